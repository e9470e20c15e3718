/** The data that the script reads from the page's JSON block. */
export type PageConfig = {
	token: string | null;
	/** The text that a tap copies instead of the token. */
	copies?: string;
	/** The URL that receives the signals; null if none are collected. */
	signalUrl: string | null;
	/** Automatic destination of desktop browsers. */
	redirectTo: string | null;
	/** The page holds offers for both an iPad and a Mac. */
	hasIpadOffer: boolean;
	codeCopied: string;
	linkCopied: string;
};

/**
 * The parts of the page's script, in their order; a page carries those of its content, and its links work without. The
 * script copies the token on a tap (contract/resolution 16), detects an iPad that claims to be a Mac, posts signals that
 * headers do not carry (contract/resolution 8), and redirects desktop browsers. Written for old web views. A link that
 * does not wait for the copy may end the page before the asynchronous clipboard API finishes, so it first uses the older
 * copy command. The build minifies the parts; names at their top level are shared, and stay.
 */
export const scriptParts = {
	base: `var d = document, n = navigator, c = JSON.parse(byId('config').textContent);
function byId(id) { return d.getElementById(id); }
`,
	each: `function each(selector, run) { [].forEach.call(d.querySelectorAll(selector), run); }
`,
	copy: `function select(text) {
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
`,
	/** Follows the link when the copy is done. */
	copiesBefore: `each('[data-copies]', function (a) {
	a.addEventListener('click', function (e) {
		var gone, go = function () { if (!gone) { gone = true; location.href = a.href; } }, copied = copy(c.copies || c.token);
		e.preventDefault();
		copied.then(say(c.codeCopied), function () {});
		copied.then(go, go);
		setTimeout(go, 400);
	});
});
`,
	/** Follows the link within the tap. */
	copiesAlong: `each('[data-copies]', function (a) {
	a.addEventListener('click', function () { copy(c.copies || c.token, true).then(say(c.codeCopied), function () {}); });
});
`,
	copyLink: `each('[data-copy-link]', function (b) {
	b.hidden = false;
	b.addEventListener('click', function () { copy(b.getAttribute('data-copy-link')).then(say(c.linkCopied), function () {}); });
});
`,
	images: `each('img', function (i) {
	var drop = function () { i.parentNode.hidden = true; };
	if (i.complete && !i.naturalWidth) drop(); else i.addEventListener('error', drop);
});
`,
	ipad: `var ipad = n.maxTouchPoints > 1;
if (ipad) { byId('offer').hidden = true; byId('ipad-offer').hidden = false; }
`,
	signals: `var sent, signals = {
	token: c.token, timezone: null, languages: (n.languages || [n.language]).slice(0, 3),
	screen: { width: screen.width, height: screen.height }, pixelRatio: devicePixelRatio, touchPoints: n.maxTouchPoints
};
try { signals.timezone = Intl.DateTimeFormat().resolvedOptions().timeZone; } catch (e) {}
function send() {
	if (sent || !n.sendBeacon || n.globalPrivacyControl) return;
	sent = true;
	n.sendBeacon(c.signalUrl, new Blob([JSON.stringify(signals)], { type: 'text/plain' }));
}
`,
	/** Apple's browsers have no more to tell. */
	sendsAtOnce: `send();
`,
	sendsHints: `var ua = n.userAgentData;
if (ua && ua.mobile && ua.getHighEntropyValues) {
	addEventListener('pagehide', send);
	ua.getHighEntropyValues(['model', 'platformVersion']).then(function (hints) {
		signals.model = hints.model; signals.platformVersion = hints.platformVersion;
		send();
	}, send);
} else send();
`,
	redirect: `if (typeof ipad === 'undefined' || !ipad) location.replace(c.redirectTo);
`,
};
