//go:build linux && (amd64 || arm64) && !nogpu

package native

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"rookery/infer/adapter"
)

// TestLayout compares every struct and every number with cuda/rookery.h, as a
// C compiler understands it.
func TestLayout(t *testing.T) {
	compiler, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc to read the header with")
	}
	var names []string
	want := map[string]uint64{}
	expect := func(name string, v uint64) {
		names = append(names, name)
		want[name] = v
	}
	for c, v := range map[string]any{
		"rk_device": device{}, "rk_peaks": peaks{}, "rk_shape": shape{}, "rk_options": options{}, "rk_row": row{}, "rk_result": result{},
		"rk_candidate": candidate{}, "rk_count": count{}, "rk_memory": memory{}, "rk_timing": timing{},
	} {
		typ := reflect.TypeOf(v)
		expect("sizeof("+c+")", uint64(typ.Size()))
		for f := range typ.Fields() {
			if f.Name == "_" {
				continue
			}
			expect("offsetof("+c+", "+snake(f.Name)+")", uint64(f.Offset))
			expect("sizeof((("+c+" *)0)->"+snake(f.Name)+")", uint64(f.Type.Size()))
		}
	}
	target := func(t adapter.Target) uint64 { return uint64(v6.targets[t]) }
	for c, v := range map[string]uint64{
		"RK_ABI_VERSION": abiVersion, "RK_OK": uint64(statusOK), "RK_ERR_ARGUMENT": uint64(statusArgument), "RK_ERR_MEMORY": uint64(statusMemory),
		"RK_ERR_DEVICE": uint64(statusDevice), "RK_ERR_TENSOR": uint64(statusTensor), "RK_ERR_LIBRARY": uint64(statusLibrary),
		"RK_F32": uint64(typeF32), "RK_F16": uint64(typeF16), "RK_BF16": uint64(typeBF16),
		"RK_ROW_DRAW": uint64(rowDraw), "RK_ROW_OBSERVE": uint64(rowObserve), "RK_ROW_LOGITS": uint64(rowLogits),
		"RK_RESULT_NAN": uint64(resultNaN), "RK_TOP_MAX": topMax, "RK_BANS_MAX": bansMax, "RK_MEMBERS_MAX": membersMax, "RK_RANK_MAX": rankMax,
		"RK_RECEPTANCE": target(adapter.Receptance), "RK_KEY": target(adapter.Key), "RK_VALUE": target(adapter.Value), "RK_OUTPUT": target(adapter.Output),
		"RK_GATE": target(adapter.Gate), "RK_FFN_RECEPTANCE": target(adapter.FFNReceptance), "RK_FFN_KEY": target(adapter.FFNKey), "RK_FFN_VALUE": target(adapter.FFNValue), "RK_HEAD": target(adapter.Head),
		"RK_V4": uint64(v4.number), "RK_V50": uint64(v50.number), "RK_V51": uint64(v51.number), "RK_V52": uint64(v52.number), "RK_V6": uint64(v6.number), "RK_V7": uint64(v7.number), "RK_MODE_RWKV": 0, "RK_MODE_PIP": 1, "RK_MODE_RAPID": 2,
	} {
		expect(c, v)
	}
	var source strings.Builder
	source.WriteString("#include <stddef.h>\n#include <stdio.h>\n#include \"rookery.h\"\nint main(void) {\n")
	for _, name := range names {
		fmt.Fprintf(&source, "printf(\"%%llu\\n\", (unsigned long long)%s);\n", name)
	}
	source.WriteString("return 0; }\n")
	dir := t.TempDir()
	file, program := filepath.Join(dir, "layout.c"), filepath.Join(dir, "layout")
	if err := os.WriteFile(file, []byte(source.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), compiler, "-I../../cuda", "-o", program, file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := exec.CommandContext(t.Context(), program).Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(string(out))
	if len(lines) != len(names) {
		t.Fatalf("%d numbers of %d", len(lines), len(names))
	}
	for i, name := range names {
		if got := lines[i]; got != fmt.Sprint(want[name]) {
			t.Errorf("%s is %s in C and %d in Go", name, got, want[name])
		}
	}
}

// snake is the C name of a Go field.
func snake(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
