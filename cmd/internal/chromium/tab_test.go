package chromium

import (
	"net/url"
	"os"
	"testing"
)

// TestMain ends the browser behind the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	Stop()
	os.Exit(code)
}

// TestClickMoved would catch a click that meets what lies where the element was: its button moves
// from under the mouse twice.
func TestClickMoved(t *testing.T) {
	b := Open(t)
	const page = `<body style="margin:0; height:800px" onpointerdown="hit(event)"><button id="it" style="position:absolute; left:10px; top:10px">it</button><script>
	let moves = 0
	const met = []
	const hit = (e) => met.push(e.target.id || 'page')
	addEventListener('pointermove', () => { if (moves++ < 2) it.style.top = 100 * moves + 'px' }, true)
	</script>`
	b.Show("data:text/html," + url.PathEscape(page))
	b.Click("a button that moves", "document.getElementById('it')")
	if got := b.Eval("met.join(' ')"); got != "it" {
		t.Errorf("the clicks met %q", got)
	}
}
