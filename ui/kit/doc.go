// Package kit is what the rooms of the interface are built of: the Host, which is
// the program as they see it; the Action, which is all that passes between them;
// the Feature, which is what a room adds; dialogs, lists, questions and the text
// area. It knows no room and not the root.
//
// The list of a FilePicker and the pictures of the spinner come from Bubbles
// v2.2.1. These of its widgets are not used:
//
//   - textinput counts the cursor in runes and not in cells: it drifts in
//     Chinese. The filter of list is one.
//   - textarea moves and deletes by rune: it takes an emoji of several apart.
//   - list shows pages, not a window that follows the selection, and its entries
//     have no actions of their own (Chooser).
//   - table has nothing to do here: no dialog of kit has columns.
//   - progress draws whole cells; graph.Bar draws eighths of them.
//   - help writes an entry beyond the width if its ellipsis has no room (HintLine).
package kit
