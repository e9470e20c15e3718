/**
 * The parts of the style sheet of pages, in their order: from 320 px to desktop, light and dark, both directions, no
 * animation. A page carries those of its content. The build minifies them.
 */
export const styleParts = {
	base: `:root {
	color-scheme: light dark;
	--ground:#f3f3ef;--card:#fff;--ink:#14161b;--soft:#595e69;--line:#dfdfd9;--link:#1d4fd8;
}
@media (prefers-color-scheme: dark) {
	:root { --ground:#0d0e11;--card:#17191e;--ink:#f2f3f5;--soft:#a7adb9;--line:#2f333c;--link:#9bb8ff; }
}
* { box-sizing: border-box; margin: 0; }
body {
	display: flex; min-height: 100vh; min-height: 100dvh; padding: 1rem; background: var(--ground); color: var(--ink);
	font: 1rem/1.5 system-ui, -apple-system, sans-serif;
	-webkit-text-size-adjust: 100%; overflow-wrap: anywhere;
}
main {
	width: 100%; max-width: 27rem; margin: auto; overflow: hidden; background: var(--card);
	border: 1px solid var(--line); border-radius: 1.25rem;
}
.body { display: grid; gap: 1.25rem; padding: 1.5rem; }
.sender { display: flex; align-items: center; gap: .625rem; margin-bottom: .875rem; font-size: .9375rem; line-height: 1.35; font-weight: 600; color: var(--soft); }
.mark {
	flex: none; display: grid; place-items: center; position: relative; overflow: hidden; width: 2.25rem; height: 2.25rem;
	border-radius: .625rem; background: var(--ink); color: var(--card); font-size: 1.125rem; line-height: 1;
}
h1 { font-size: 1.5rem; line-height: 1.25; font-weight: 700; letter-spacing: -.01em; text-wrap: balance; }
.about { margin-top: .5rem; color: var(--soft); }
.offer { display: grid; gap: .75rem; }
a { color: var(--link); }
.button, button {
	display: flex; flex-direction: column; align-items: center; justify-content: center; width: 100%; min-height: 3.25rem; padding: .625rem 1rem;
	border: 1px solid var(--line); border-radius: .875rem; background: none; color: var(--ink);
	font: inherit; font-weight: 600; line-height: 1.3; text-align: center; text-wrap: balance; text-decoration: none; cursor: pointer;
}
.primary { background: var(--ink); border-color: var(--ink); color: var(--card); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
@media (min-width: 40rem) { main { max-width: 30rem; } }
@media (max-width: 22rem) {
	body { padding: .5rem; }
	.body { gap: 1rem; padding: 1.125rem; }
	h1 { font-size: 1.3125rem; }
}
`,
	/** For languages that break lines within words. */
	korean: `body { word-break: keep-all; }
`,
	/** For readers with a mouse. */
	hover: `.primary:hover { opacity: .92; }
a.button:not(.primary):hover, button:hover { border-color: var(--soft); }
`,
	/** For content that the script shows or hides. */
	hidden: `[hidden] { display: none !important; }
`,
	status: `.status, .consent { font-size: .875rem; color: var(--soft); text-align: center; }
.status:empty { position: absolute; }
`,
	image: `img { display: block; width: 100%; height: 100%; object-fit: cover; }
`,
	/** The ground of panels, and of a cover that has not been loaded. */
	ground: `:root { --panel:#f7f7f4; }
@media (prefers-color-scheme: dark) { :root { --panel:#1e2127; } }
`,
	cover: `figure { aspect-ratio: 1.91; max-height: 34vh; width: 100%; background: var(--panel); border-block-end: 1px solid var(--line); }
@media (min-width: 40rem) { figure { max-height: 26vh; } }
`,
	logo: `.logo { position: absolute; inset: 0; }
.logo img { object-fit: contain; background: #fff; }
`,
	quiet: `.quiet {
	display: flex; align-items: center; justify-content: center; min-height: 2.75rem; padding-inline: .5rem;
	font-size: .9375rem; text-align: center; text-underline-offset: .2em;
}
`,
	where: `.where { font-size: .8125rem; font-weight: 400; opacity: .8; }
`,
	stores: `.stores { display: flex; flex-wrap: wrap; gap: .75rem; }
.stores .button { flex: 1 1 7rem; width: auto; padding-inline: .5rem; }
`,
	consent: `.consent { text-wrap: balance; }
.consent .quiet { font-size: inherit; }
`,
	/** For the text that an old browser copies from. */
	copying: `.away { position: fixed; top: 0; inset-inline-start: -99rem; font-size: 1rem; }
`,
	panel: `.panel { display: grid; gap: .75rem; padding: 1rem; border-radius: .875rem; background: var(--panel); font-size: .9375rem; }
.panel button, .panel .button { min-height: 2.75rem; border-radius: .625rem; font-size: .9375rem; background: var(--card); }
.url { font-size: .875rem; color: var(--soft); -webkit-user-select: all; user-select: all; }
`,
	report: `.report { font-size: .8125rem; text-align: center; }
.report a { color: var(--soft); }
`,
	/** For the form by which people report a link. */
	form: `label, fieldset { display: grid; gap: .375rem; font-size: .9375rem; font-weight: 600; border: 0; padding: 0; }
legend { padding: 0; margin-bottom: .375rem; }
.choice { grid-template-columns: auto 1fr; align-items: start; gap: .625rem; padding: .5rem 0; font-weight: 400; }
.choice input { width: 1.25rem; height: 1.25rem; margin: .125rem 0 0; }
input, textarea {
	width: 100%; padding: .625rem .75rem; border: 1px solid var(--soft); border-radius: .625rem;
	background: var(--card); color: var(--ink); font: inherit; font-weight: 400;
}
.fault { margin-top: .75rem; font-weight: 600; }
`,
	scan: `.scan { justify-items: center; text-align: center; }
.beside { display: grid; gap: .75rem; width: 100%; }
.qr { width: 100%; max-width: 11rem; border-radius: .625rem; overflow: hidden; background: #fff; }
.qr svg { display: block; width: 100%; height: auto; }
@media (min-width: 40rem) { .scan { grid-template-columns: 10rem 1fr; gap: 1.25rem; align-items: center; text-align: start; } }
`,
};
