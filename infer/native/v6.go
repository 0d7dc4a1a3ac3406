package native

// v6 is RWKV-6 (x060). Its layers have no stages for rows with adapters.
var v6 = version{number: 60}
