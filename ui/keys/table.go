package keys

import "slices"

// The actions' ids.
const (
	Send          ID = "send"
	Stop          ID = "stop"
	Continue      ID = "continue"
	Retry         ID = "retry"
	EditLast      ID = "edit_last"
	PrevSibling   ID = "previous_version"
	NextSibling   ID = "next_version"
	System        ID = "system_prompt"
	Think         ID = "think_mode"
	Form          ID = "answer_form"
	Export        ID = "export"
	Import        ID = "import"
	Conversations ID = "conversations"
	States        ID = "states"
	Bake          ID = "bake"
	FromFiles     ID = "from_files"
	KeepState     ID = "keep_state"
	Personas      ID = "personas"
	Drift         ID = "drift"

	PinConversation      ID = "pin_conversation"
	ArchiveConversation  ID = "archive_conversation"
	DeleteConversation   ID = "delete_conversation"
	UndeleteConversation ID = "undelete_conversation"

	Newline     ID = "newline"
	HistoryPrev ID = "history_previous"
	HistoryNext ID = "history_next"
	HistoryFind ID = "history_search"
	Editor      ID = "editor"
	Complete    ID = "focus_messages"

	FocusComposer ID = "focus_prompt"
	SelectPrev    ID = "select_previous"
	SelectNext    ID = "select_next"
	ScrollUp      ID = "scroll_up"
	ScrollDown    ID = "scroll_down"
	PageUp        ID = "page_up"
	PageDown      ID = "page_down"
	Top           ID = "top"
	Bottom        ID = "bottom"
	Fold          ID = "fold"
	CopyMessage   ID = "copy_message"
	CopyCode      ID = "copy_code"
	Search        ID = "search"
	SearchNext    ID = "search_next"
	SearchPrev    ID = "search_previous"

	NewTab      ID = "new_tab"
	CloseTab    ID = "close_tab"
	CloseOthers ID = "close_other_tabs"
	ReopenTab   ID = "reopen_tab"
	RenameTab   ID = "rename_tab"
	NextTab     ID = "next_tab"
	PrevTab     ID = "previous_tab"
	MoveTabUp   ID = "move_tab_left"
	MoveTabDown ID = "move_tab_right"
	Tab1        ID = "tab_1"
	Tab2        ID = "tab_2"
	Tab3        ID = "tab_3"
	Tab4        ID = "tab_4"
	Tab5        ID = "tab_5"
	Tab6        ID = "tab_6"
	Tab7        ID = "tab_7"
	Tab8        ID = "tab_8"
	Tab9        ID = "tab_9"

	MonitorPanel ID = "monitor_panel"
	FocusPanel   ID = "focus_panel"
	ClosePanel   ID = "close_panel"
	Palette      ID = "palette"
	Help         ID = "help"
	Mouse        ID = "mouse"
	Redraw       ID = "redraw"
	Interrupt    ID = "interrupt"
	Quit         ID = "quit"

	CharLeft       ID = "char_left"
	CharRight      ID = "char_right"
	WordLeft       ID = "word_left"
	WordRight      ID = "word_right"
	LineStart      ID = "line_start"
	LineEnd        ID = "line_end"
	DeleteLeft     ID = "delete_left"
	DeleteRight    ID = "delete_right"
	DeleteWord     ID = "delete_word_left"
	DeleteWordNext ID = "delete_word_right"
	DeleteToStart  ID = "delete_to_line_start"
	DeleteToEnd    ID = "delete_to_line_end"

	ListUp       ID = "list_up"
	ListDown     ID = "list_down"
	ListPageUp   ID = "list_page_up"
	ListPageDown ID = "list_page_down"
	ListAccept   ID = "list_accept"
	ListCancel   ID = "list_cancel"
	ListDelete   ID = "list_delete"
	ListRename   ID = "list_rename"
	ListPin      ID = "list_pin"
	ListArchive  ID = "list_archive"
	ListView     ID = "list_view"
	ListUndo     ID = "list_undo"
	ListEmpty    ID = "list_empty_bin"
	ListInspect  ID = "list_inspect"
	ListUnfold   ID = "list_unfold"
	ListNewline  ID = "list_newline"
)

// table is the order of the help screen and of the palette.
var table = slices.Concat(generalTable, samplingTable(), programTable, treeTable, compareTable, mixTable, adaptersTable)

// generalTable is the part about conversations, prompts, messages and tabs.
var generalTable = []Action{
	{ID: Send, Title: "Send the prompt", Help: "send the prompt and start the answer", Category: Conversation, Keys: []string{"enter"}, Contexts: Composer, Hidden: true},
	{ID: Stop, Title: "Stop the answer", Help: "stop the answer; you can continue it later", Category: Conversation, Keys: []string{"esc"}, Contexts: Composer | Transcript, Slash: "stop"},
	{ID: Continue, Title: "Continue the answer", Help: "continue the last answer", Category: Conversation, Keys: []string{"f6", "alt+c", "c"}, Contexts: Global, Slash: "continue", Aliases: []string{"cont"}, Answers: true},
	{ID: Retry, Title: "Retry the answer", Help: "generate another answer; keep the old version", Category: Conversation, Keys: []string{"f5", "alt+r", "r"}, Contexts: Global, Slash: "retry", Aliases: []string{"regen"}, Answers: true},
	{ID: EditLast, Title: "Edit the last prompt", Help: "change the last prompt and answer it again", Category: Conversation, Keys: []string{"alt+e", "e"}, Contexts: Global, Slash: "edit", Args: "[text]", Answers: true},
	{ID: PrevSibling, Title: "Previous version", Help: "show the previous version of a turn", Category: Conversation, Keys: []string{"alt+,", "["}, Contexts: Global, Slash: "prev"},
	{ID: NextSibling, Title: "Next version", Help: "show the next version of a turn", Category: Conversation, Keys: []string{"alt+.", "]"}, Contexts: Global, Slash: "next"},
	{ID: System, Title: "Edit the system prompt", Help: "set the system prompt", Category: Conversation, Keys: []string{"alt+s"}, Contexts: Global, Slash: "system", Args: "[text]"},
	{ID: Think, Title: "Choose the thinking mode", Help: "choose how a thinking model thinks", Category: Conversation, Keys: []string{"alt+t"}, Contexts: Global, Slash: "think", Args: "[off, fast, free, en, short, long or chinese]"},
	{ID: Form, Title: "Choose the form of the answers", Help: "hold answers to JSON, an expression or a grammar", Category: Conversation, Contexts: Global, Slash: "form", Args: "[off, json, schema, regex or grammar] [text or file]"},
	{ID: Export, Title: "Export the conversation", Help: "write the conversation to a file", Category: Conversation, Keys: []string{"alt+x"}, Contexts: Global, Slash: "export", Args: "[md, json, tree, bundle or states] [path]"},
	{ID: Import, Title: "Import conversations", Help: "read conversations from files", Category: Conversation, Contexts: Global, Slash: "import", Args: "[file]"},
	{ID: Conversations, Title: "Open a conversation", Help: "find, open, rename or delete stored conversations", Category: Conversation, Keys: []string{"ctrl+o"}, Contexts: Global, Slash: "open", Args: "[text]", Aliases: []string{"list"}},
	{ID: PinConversation, Title: "Pin the conversation", Help: "list this conversation first, or no longer", Category: Conversation, Contexts: Global, Slash: "pin"},
	{ID: ArchiveConversation, Title: "Archive the conversation", Help: "move the conversation to the archive, or back", Category: Conversation, Contexts: Global, Slash: "archive"},
	{ID: DeleteConversation, Title: "Delete the conversation", Help: "close this conversation and move it to the bin", Category: Conversation, Contexts: Global, Slash: "delete"},
	{ID: UndeleteConversation, Title: "Undo deleting a conversation", Help: "restore the last conversation from the bin", Category: Conversation, Contexts: Global, Slash: "undelete"},
	{ID: States, Title: "States", Help: "begin from a state; bake, inspect, rename states", Category: Conversation, Keys: []string{"f8", "alt+i"}, Contexts: Global, Slash: "states", Args: "[name]"},
	{ID: Bake, Title: "Bake a text file", Help: "read a text file into a state, once", Category: Conversation, Contexts: Global, Slash: "bake", Args: "[path]"},
	{ID: FromFiles, Title: "Begin from files", Help: "read @files once into a state and begin from it", Category: Conversation, Keys: []string{"alt+shift+b"}, Contexts: Global, Slash: "file", Args: "[path or @paths]", Aliases: []string{"files"}},
	{ID: KeepState, Title: "Keep the state", Help: "save the state after an answer in the library", Category: Conversation, Contexts: Global, Slash: "keep", Args: "[name]"},
	{ID: Personas, Title: "Personas", Help: "begin as a persona; save, import, delete personas", Category: Conversation, Keys: []string{"alt+shift+p"}, Contexts: Global, Slash: "persona", Args: "[name, or save, delete, import ...]", Aliases: []string{"personas"}},
	{ID: Drift, Title: "Drift", Help: "show how far the state has moved from its base", Category: Conversation, Contexts: Global, Slash: "drift"},

	{ID: Newline, Title: "New line", Help: "start a new line; \\ then enter does too", Category: Prompt, Keys: []string{"shift+enter", "ctrl+j", "alt+enter"}, Contexts: Composer, Hidden: true},
	{ID: HistoryPrev, Title: "Previous prompt", Help: "bring back an earlier prompt", Category: Prompt, Keys: []string{"up"}, Contexts: Composer, Hidden: true},
	{ID: HistoryNext, Title: "Next prompt", Help: "bring back a later prompt", Category: Prompt, Keys: []string{"down"}, Contexts: Composer, Hidden: true},
	{ID: HistoryFind, Title: "Search the prompt history", Help: "find an earlier prompt", Category: Prompt, Keys: []string{"ctrl+r"}, Contexts: Composer, Slash: "history"},
	{ID: Editor, Title: "Write in $EDITOR", Help: "write the prompt in $VISUAL or $EDITOR", Category: Prompt, Keys: []string{"ctrl+g"}, Contexts: Composer, Slash: "editor"},
	{ID: Complete, Title: "Go to the messages", Help: "complete a slash command, or go to the messages", Category: Prompt, Keys: []string{"tab"}, Contexts: Composer, Hidden: true},

	{ID: FocusComposer, Title: "Go to the prompt", Help: "move back to the prompt", Category: Messages, Keys: []string{"tab", "enter"}, Contexts: Transcript, Hidden: true},
	{ID: SelectPrev, Title: "Select the previous message", Help: "select the message above", Category: Messages, Keys: []string{"up", "k"}, Contexts: Transcript, Hidden: true},
	{ID: SelectNext, Title: "Select the next message", Help: "select the message below", Category: Messages, Keys: []string{"down", "j"}, Contexts: Transcript, Hidden: true},
	{ID: ScrollUp, Title: "Scroll up", Help: "scroll up one line", Category: Messages, Keys: []string{"alt+up"}, Contexts: Composer | Transcript, Hidden: true},
	{ID: ScrollDown, Title: "Scroll down", Help: "scroll down one line", Category: Messages, Keys: []string{"alt+down"}, Contexts: Composer | Transcript, Hidden: true},
	{ID: PageUp, Title: "Page up", Help: "scroll up one page", Category: Messages, Keys: []string{"pgup"}, Contexts: Composer | Transcript, Hidden: true},
	{ID: PageDown, Title: "Page down", Help: "scroll down one page", Category: Messages, Keys: []string{"pgdown", "space"}, Contexts: Composer | Transcript, Hidden: true},
	{ID: Top, Title: "Go to the first message", Help: "scroll to the top", Category: Messages, Keys: []string{"ctrl+home", "g"}, Contexts: Composer | Transcript, Slash: "top"},
	{ID: Bottom, Title: "Go to the end", Help: "scroll to the end and follow the answer", Category: Messages, Keys: []string{"ctrl+end", "G"}, Contexts: Composer | Transcript, Slash: "bottom"},
	{ID: Fold, Title: "Fold or unfold", Help: "show or hide thoughts and long pasted prompts", Category: Messages, Keys: []string{"alt+h", "t"}, Contexts: Composer | Transcript, Slash: "fold"},
	{ID: CopyMessage, Title: "Copy a message", Help: "copy the selected message, or the last answer", Category: Messages, Keys: []string{"alt+y", "y"}, Contexts: Composer | Transcript, Slash: "copy", Args: "[code [n]]"},
	{ID: CopyCode, Title: "Copy a code block", Help: "copy the last code block of a message", Category: Messages, Keys: []string{"alt+k", "Y"}, Contexts: Composer | Transcript},
	{ID: Search, Title: "Search in the messages", Help: "find text in this conversation", Category: Messages, Keys: []string{"ctrl+f", "/"}, Contexts: Composer | Transcript, Slash: "search", Args: "[text]", Aliases: []string{"find"}},
	{ID: SearchNext, Title: "Next match", Help: "go to the next match", Category: Messages, Keys: []string{"n"}, Contexts: Transcript, Hidden: true},
	{ID: SearchPrev, Title: "Previous match", Help: "go to the previous match", Category: Messages, Keys: []string{"N"}, Contexts: Transcript, Hidden: true},

	{ID: NewTab, Title: "New conversation", Help: "open a new conversation in a new tab", Category: Tabs, Keys: []string{"ctrl+t"}, Contexts: Global, Slash: "new"},
	{ID: CloseTab, Title: "Close the tab", Help: "close this tab; the conversation stays stored", Category: Tabs, Keys: []string{"alt+w"}, Contexts: Global, Slash: "close"},
	{ID: CloseOthers, Title: "Close the other tabs", Help: "close all tabs but this one; nothing is deleted", Category: Tabs, Keys: []string{"alt+shift+w"}, Contexts: Global, Slash: "close_others"},
	{ID: ReopenTab, Title: "Reopen the closed tab", Help: "open the tab closed last again", Category: Tabs, Keys: []string{"alt+z"}, Contexts: Global, Slash: "reopen"},
	{ID: RenameTab, Title: "Rename the conversation", Help: "give the conversation a title", Category: Tabs, Keys: []string{"f2"}, Contexts: Global, Slash: "rename", Args: "[title]"},
	{ID: NextTab, Title: "Next tab", Help: "go to the tab on the right", Category: Tabs, Keys: []string{"ctrl+pgdown", "ctrl+tab", "alt+n"}, Contexts: Global},
	{ID: PrevTab, Title: "Previous tab", Help: "go to the tab on the left", Category: Tabs, Keys: []string{"ctrl+pgup", "ctrl+shift+tab", "alt+p"}, Contexts: Global},
	{ID: MoveTabUp, Title: "Move the tab left", Help: "move this tab one place to the left", Category: Tabs, Keys: []string{"ctrl+shift+pgup", "alt+shift+left"}, Contexts: Global},
	{ID: MoveTabDown, Title: "Move the tab right", Help: "move this tab one place to the right", Category: Tabs, Keys: []string{"ctrl+shift+pgdown", "alt+shift+right"}, Contexts: Global},
	{ID: Tab1, Title: "Go to tab 1", Help: "go to the first tab", Category: Tabs, Keys: []string{"alt+1"}, Contexts: Global, Hidden: true},
	{ID: Tab2, Title: "Go to tab 2", Help: "go to the second tab", Category: Tabs, Keys: []string{"alt+2"}, Contexts: Global, Hidden: true},
	{ID: Tab3, Title: "Go to tab 3", Help: "go to the third tab", Category: Tabs, Keys: []string{"alt+3"}, Contexts: Global, Hidden: true},
	{ID: Tab4, Title: "Go to tab 4", Help: "go to the fourth tab", Category: Tabs, Keys: []string{"alt+4"}, Contexts: Global, Hidden: true},
	{ID: Tab5, Title: "Go to tab 5", Help: "go to the fifth tab", Category: Tabs, Keys: []string{"alt+5"}, Contexts: Global, Hidden: true},
	{ID: Tab6, Title: "Go to tab 6", Help: "go to the sixth tab", Category: Tabs, Keys: []string{"alt+6"}, Contexts: Global, Hidden: true},
	{ID: Tab7, Title: "Go to tab 7", Help: "go to the seventh tab", Category: Tabs, Keys: []string{"alt+7"}, Contexts: Global, Hidden: true},
	{ID: Tab8, Title: "Go to tab 8", Help: "go to the eighth tab", Category: Tabs, Keys: []string{"alt+8"}, Contexts: Global, Hidden: true},
	{ID: Tab9, Title: "Go to the last tab", Help: "go to the last tab", Category: Tabs, Keys: []string{"alt+9"}, Contexts: Global, Hidden: true},
}

// programTable is the part about the program itself, its text editor and its dialogs.
var programTable = []Action{
	{ID: Palette, Title: "Command palette", Help: "find and run any command", Category: Program, Keys: []string{"ctrl+p"}, Contexts: Global, Hidden: true},
	{ID: Help, Title: "Help", Help: "show all keys and commands", Category: Program, Keys: []string{"f1", "?"}, Contexts: Global | Setup | Panes, Slash: "help"},
	{ID: MonitorPanel, Title: "Monitor panel", Help: "show or hide speed, steps and memory over time", Category: Program, Keys: []string{"f4", "alt+m"}, Contexts: Global, Slash: "monitor"},
	{ID: FocusPanel, Title: "Go to the panel", Help: "move between the panel and the prompt", Category: Program, Keys: []string{"alt+o"}, Contexts: Global, Hidden: true},
	{ID: ClosePanel, Title: "Close the panel", Help: "close the panel and go back to the prompt", Category: Program, Keys: []string{"esc", "q"}, Contexts: Panel, Hidden: true},
	{ID: Mouse, Title: "Mouse on or off", Help: "give the mouse to the program or the terminal", Category: Program, Contexts: Global, Slash: "mouse"},
	{ID: Redraw, Title: "Redraw the screen", Help: "paint the whole screen again", Category: Program, Keys: []string{"ctrl+l"}, Contexts: Global},
	{ID: Interrupt, Title: "Interrupt", Help: "stop the answer, clear the prompt, then quit", Category: Program, Keys: []string{"ctrl+c"}, Contexts: Global, Hidden: true},
	{ID: Quit, Title: "Quit", Help: "stop what runs, save everything and quit", Category: Program, Keys: []string{"ctrl+q"}, Contexts: Global, Slash: "quit", Aliases: []string{"exit", "q"}},

	{ID: CharLeft, Title: "Character left", Help: "move one character to the left", Category: Editing, Keys: []string{"left", "ctrl+b"}, Contexts: Composer, Hidden: true},
	{ID: CharRight, Title: "Character right", Help: "move one character to the right", Category: Editing, Keys: []string{"right"}, Contexts: Composer, Hidden: true},
	{ID: WordLeft, Title: "Word left", Help: "move one word to the left", Category: Editing, Keys: []string{"alt+left", "ctrl+left", "alt+b"}, Contexts: Composer, Hidden: true},
	{ID: WordRight, Title: "Word right", Help: "move one word to the right", Category: Editing, Keys: []string{"alt+right", "ctrl+right", "alt+f"}, Contexts: Composer, Hidden: true},
	{ID: LineStart, Title: "Line start", Help: "move to the start of the line", Category: Editing, Keys: []string{"home", "ctrl+a"}, Contexts: Composer, Hidden: true},
	{ID: LineEnd, Title: "Line end", Help: "move to the end of the line", Category: Editing, Keys: []string{"end", "ctrl+e"}, Contexts: Composer, Hidden: true},
	{ID: DeleteLeft, Title: "Delete left", Help: "delete the character before the cursor", Category: Editing, Keys: []string{"backspace", "ctrl+h"}, Contexts: Composer, Hidden: true},
	{ID: DeleteRight, Title: "Delete right", Help: "delete the character under the cursor", Category: Editing, Keys: []string{"delete", "ctrl+d"}, Contexts: Composer, Hidden: true},
	{ID: DeleteWord, Title: "Delete word left", Help: "delete the word before the cursor", Category: Editing, Keys: []string{"ctrl+w", "alt+backspace", "ctrl+backspace"}, Contexts: Composer, Hidden: true},
	{ID: DeleteWordNext, Title: "Delete word right", Help: "delete the word after the cursor", Category: Editing, Keys: []string{"alt+d", "alt+delete", "ctrl+delete"}, Contexts: Composer, Hidden: true},
	{ID: DeleteToStart, Title: "Delete to line start", Help: "delete everything before the cursor in the line", Category: Editing, Keys: []string{"ctrl+u"}, Contexts: Composer, Hidden: true},
	{ID: DeleteToEnd, Title: "Delete to line end", Help: "delete everything after the cursor in the line", Category: Editing, Keys: []string{"ctrl+k"}, Contexts: Composer, Hidden: true},

	{ID: ListUp, Title: "Up", Help: "select the entry above", Category: Lists, Keys: []string{"up", "ctrl+p"}, Contexts: List, Hidden: true},
	{ID: ListDown, Title: "Down", Help: "select the entry below", Category: Lists, Keys: []string{"down", "ctrl+n"}, Contexts: List, Hidden: true},
	{ID: ListPageUp, Title: "Page up", Help: "go up one page", Category: Lists, Keys: []string{"pgup"}, Contexts: List, Hidden: true},
	{ID: ListPageDown, Title: "Page down", Help: "go down one page", Category: Lists, Keys: []string{"pgdown"}, Contexts: List, Hidden: true},
	{ID: ListAccept, Title: "Accept", Help: "take the selected entry or the text", Category: Lists, Keys: []string{"enter"}, Contexts: List, Hidden: true},
	{ID: ListCancel, Title: "Close", Help: "close the dialog and change nothing", Category: Lists, Keys: []string{"esc", "ctrl+c"}, Contexts: List, Hidden: true},
	{ID: ListDelete, Title: "Delete", Help: "move to the bin; in the bin, delete for good", Category: Lists, Keys: []string{"ctrl+x"}, Contexts: List, Hidden: true},
	{ID: ListUndo, Title: "Undo the deletion", Help: "restore the last conversation from the bin", Category: Lists, Keys: []string{"ctrl+z"}, Contexts: List, Hidden: true},
	{ID: ListEmpty, Title: "Empty the bin", Help: "delete everything in the bin for good", Category: Lists, Keys: []string{"alt+x"}, Contexts: List, Hidden: true},
	{ID: ListRename, Title: "Rename", Help: "rename the selected conversation", Category: Lists, Keys: []string{"f2"}, Contexts: List, Hidden: true},
	{ID: ListPin, Title: "Pin", Help: "list the conversation first, or no longer", Category: Lists, Keys: []string{"alt+p"}, Contexts: List, Hidden: true},
	{ID: ListArchive, Title: "Archive", Help: "move the conversation to the archive, or back", Category: Lists, Keys: []string{"alt+a"}, Contexts: List, Hidden: true},
	{ID: ListView, Title: "Archive and bin", Help: "switch list, archive and bin; complete a path", Category: Lists, Keys: []string{"tab"}, Contexts: List, Hidden: true},
	{ID: ListInspect, Title: "Inspect", Help: "inspect the selected state", Category: Lists, Keys: []string{"alt+i"}, Contexts: List, Hidden: true},
	{ID: ListUnfold, Title: "Copies", Help: "list the copies of a conversation, or fold them", Category: Lists, Keys: []string{"alt+f"}, Contexts: List, Hidden: true},
	{ID: ListNewline, Title: "New line", Help: "start a new line in a text of several lines", Category: Lists, Keys: []string{"shift+enter", "ctrl+j", "alt+enter"}, Contexts: List, Hidden: true},
}
