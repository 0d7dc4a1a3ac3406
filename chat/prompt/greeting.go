package prompt

import "rookery/infer"

// Greeting introduces a model in an empty conversation. It is a notice and no
// part of the tree. It is empty for models that need no introduction.
func Greeting(m *infer.Model) string {
	if FamilyOf(m) != FamilyDemo {
		return ""
	}
	return "This is " + demoName + ", a demonstration of 12 million parameters that comes inside the program. " +
		"It tells short children's stories, answers a few questions about them and makes small talk; " +
		"it knows nothing else and makes things up. " +
		"Try “Tell me a story about a brave cat.” For real work, start with a released RWKV-7 model: rookery --model FILE."
}
