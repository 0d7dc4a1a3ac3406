package checkpoint

// CheckFinite reads all values and names the first tensor with one that is NaN or
// infinite. It is for a model that computes NaN: it takes as long as loading.
func (f *File) CheckFinite() error {
	part := make([]float32, 1<<16)
	for _, t := range f.order {
		for off, n := 0, t.Len(); off < n; off += len(part) {
			values := part[:min(len(part), n-off)]
			if err := t.Float32(values, off); err != nil {
				return inFile(f.path, err)
			}
			for i, v := range values {
				if v-v != 0 {
					return inFile(f.path, refuseTensor(t.Name, downloadAgain, "value %d is %v", off+i, v))
				}
			}
		}
	}
	return nil
}
