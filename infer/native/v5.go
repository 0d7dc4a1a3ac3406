package native

// v52, v51 and v50 are the forms of RWKV-5 (x052, x051, x050).
var (
	v52 = version{number: 52, targets: gatedTargets}
	v51 = version{number: 51, targets: gatedTargets}
	v50 = version{number: 50, targets: ungatedTargets}
)
