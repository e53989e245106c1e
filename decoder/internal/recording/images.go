package recording

import (
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// BothImages reads the other kernel image and returns the two in the order in which
// they were taken. The pokes that each shows tell which that is. Where they do not,
// the order is as given. late is nil where it does not show what came last.
func (r *Recording) BothImages(j *kcore.Journal, img *image.Image, path string, opt image.Options) (early, late *image.Image, err error) {
	if late, err = image.Open(path, opt); err != nil {
		return nil, nil, err
	}
	r.CloseWith(late)
	a := kcore.NewText(j, img, kcore.TextOptions{Taken: r.Taken}).Placement()
	b := kcore.NewText(j, late, kcore.TextOptions{}).Placement()
	last := j.Len()
	if int(b.Hi) < last && int(a.Hi) < last { // the first may be the late one: then it was not taken as perf says
		a = kcore.NewText(j, img, kcore.TextOptions{}).Placement()
	}
	if (b.Epoch < a.Epoch || int(b.Hi) < last && int(a.Hi) == last) && b.Held > 0 && !b.Foreign() {
		img, late, b = late, img, a
	}
	if int(b.Hi) < last || b.Foreign() {
		r.Warnf("give one copy of /proc/kcore of before the recording and one of after it, of the same boot",
			"%s+0x0: image: fits epochs %d to %d of %d, need the last: it says nothing of what came last", path, b.Lo, b.Hi, last)
		return img, nil, nil
	}
	return img, late, nil
}
