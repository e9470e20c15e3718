/** What the script reads from the page's JSON block. */
export type PageConfig = {
	token: string | null;
	/** Where the signals go, or null where none are wanted. */
	signalUrl: string | null;
	/** Where a desktop browser goes by itself. */
	redirectTo: string | null;
	/** The page holds what an iPad is offered beside what a Mac is. */
	hasIpadOffer: boolean;
	codeCopied: string;
	linkCopied: string;
};

/**
 * The page's only script. Links work without it; it copies the token in the tap (contract/page 3), tells an iPad from a
 * Mac, posts the signals that headers do not carry (contract/resolution 8), and moves desktop browsers on. Written for
 * old web views. A link that does not wait for the copy may end the page before the clipboard's own, asynchronous way
 * is done, so there the old command comes first.
 */
export const pageScript = `(function () {
var c = JSON.parse(document.getElementById('config').textContent), n = navigator, d = document;
var byId = function (id) { return d.getElementById(id); };
function each(selector, run) { Array.prototype.forEach.call(d.querySelectorAll(selector), run); }
function select(text) {
	var i = d.createElement('input'), from = d.activeElement, done = false;
	i.value = text; i.readOnly = true; i.className = 'away'; d.body.appendChild(i);
	i.select(); i.setSelectionRange(0, text.length);
	try { done = d.execCommand('copy'); } catch (e) {}
	d.body.removeChild(i);
	if (from && from.focus) from.focus();
	return done ? Promise.resolve() : Promise.reject();
}
function copy(text, atOnce) {
	if (!n.clipboard || !n.clipboard.writeText) return select(text);
	function write() { return n.clipboard.writeText(text); }
	function old() { return select(text); }
	return atOnce ? old().catch(write) : write().catch(old);
}
function say(text) { return function () { byId('status').textContent = text; }; }
each('[data-copies]', function (a) {
	a.addEventListener('click', function (e) {
		var waits = a.getAttribute('data-copies') === 'before', copied = copy(c.token, !waits);
		copied.then(say(c.codeCopied), function () {});
		if (!waits) return;
		e.preventDefault();
		var gone = false, go = function () { if (!gone) { gone = true; location.href = a.href; } };
		copied.then(go, go);
		setTimeout(go, 400);
	});
});
each('[data-copy-link]', function (b) {
	b.hidden = false;
	b.addEventListener('click', function () { copy(b.getAttribute('data-copy-link')).then(say(c.linkCopied), function () {}); });
});
each('img', function (i) {
	var drop = function () { i.parentNode.hidden = true; };
	if (i.complete && !i.naturalWidth) drop(); else i.addEventListener('error', drop);
});
var ipad = c.hasIpadOffer && n.maxTouchPoints > 1;
if (ipad) { byId('offer').hidden = true; byId('ipad-offer').hidden = false; }
var sent = false;
function send(hints) {
	if (sent) return;
	sent = true;
	var zone = null;
	try { zone = Intl.DateTimeFormat().resolvedOptions().timeZone; } catch (e) {}
	n.sendBeacon(c.signalUrl, new Blob([JSON.stringify({
		token: c.token, timezone: zone, languages: (n.languages || [n.language]).slice(0, 3),
		screen: { width: screen.width, height: screen.height }, pixelRatio: devicePixelRatio,
		touchPoints: n.maxTouchPoints, model: hints && hints.model, platformVersion: hints && hints.platformVersion
	})], { type: 'text/plain' }));
}
if (c.signalUrl && n.sendBeacon && !n.globalPrivacyControl) {
	var ua = n.userAgentData;
	if (ua && ua.mobile && ua.getHighEntropyValues) {
		addEventListener('pagehide', function () { send(); });
		ua.getHighEntropyValues(['model', 'platformVersion']).then(send, function () { send(); });
	} else send();
}
if (c.redirectTo && !ipad) location.replace(c.redirectTo);
})();
`;
