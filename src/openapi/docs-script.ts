/**
 * The only script of `/docs`, which can be read without it: search by method, path, summary and field, a button that copies
 * each command, the operation of an address's fragment, and the list of groups, which starts folded on a phone.
 */
export const docsScript = `(function () {
var d = document, byId = function (id) { return d.getElementById(id); };
var all = function (selector, root) { return Array.prototype.slice.call((root || d).querySelectorAll(selector)); };
var box = byId('search'), found = byId('found');
byId('groups').open = matchMedia('(min-width: 60rem)').matches;
box.parentNode.hidden = false;
var blocks = all('details.operation').map(function (block) {
	var texts = [block.querySelector('summary')].concat(all('.name', block)).map(function (one) { return one.textContent; });
	return {block: block, text: texts.join(' ').toLowerCase()};
});
box.addEventListener('input', function () {
	var words = box.value.toLowerCase().split(/\\s+/), count = 0;
	blocks.forEach(function (one) {
		one.block.hidden = !words.every(function (word) { return one.text.indexOf(word) >= 0; });
		if (!one.block.hidden) count += 1;
	});
	all('section').forEach(function (section) { section.hidden = !section.querySelector('details.operation:not([hidden])'); });
	byId('lead').hidden = box.value !== '';
	found.textContent = box.value === '' ? '' : count + (count === 1 ? ' result' : ' results');
});
d.addEventListener('keydown', function (e) {
	if (e.key === '/' && d.activeElement !== box && !e.ctrlKey && !e.metaKey) { e.preventDefault(); box.focus(); }
});
all('button').forEach(function (button) {
	button.hidden = false;
	button.addEventListener('click', function () {
		var code = button.previousElementSibling, range = d.createRange();
		range.selectNodeContents(code);
		getSelection().removeAllRanges();
		getSelection().addRange(range);
		if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(function () { button.textContent = 'Copied'; }, function () {});
	});
});
function unfold() {
	var target = location.hash && byId(location.hash.slice(1));
	if (target && target.tagName === 'DETAILS') { target.open = true; target.scrollIntoView(); }
}
addEventListener('hashchange', unfold);
unfold();
})();
`;
