/** The only style sheet of `/docs`: from 320 px to desktop, light and dark. */
export const docsStyle = `:root {
	color-scheme: light dark;
	--ground: #f6f6f3; --card: #fff; --ink: #14161b; --soft: #565b66; --line: #dedfd9; --panel: #f2f2ee; --link: #1d4fd8;
	--get: #1d4fd8; --post: #11734b; --put: #8a5a00; --patch: #8a5a00; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
	:root {
		--ground: #0d0e11; --card: #16181d; --ink: #eff0f3; --soft: #a4aab6; --line: #2c3038; --panel: #1e2127; --link: #9bb8ff;
		--get: #9bb8ff; --post: #6fd3a4; --put: #eebf6a; --patch: #eebf6a; --delete: #ff9d94;
	}
}
* { box-sizing: border-box; margin: 0; }
[hidden] { display: none !important; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { background: var(--ground); color: var(--ink); font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--link); text-underline-offset: .2em; }
code, pre { font: .875em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.page { display: grid; grid-template-columns: minmax(0, 1fr); max-width: 76rem; margin: auto; }
nav { padding: 1rem; border-block-end: 1px solid var(--line); }
nav summary { padding-block: .5rem; font-weight: 600; cursor: pointer; }
nav ul { padding: 0; list-style: none; columns: 2; }
nav a { display: block; padding-block: .375rem; color: inherit; text-decoration: none; }
nav a:hover { color: var(--link); text-decoration: underline; }
main { min-width: 0; padding: 1rem; }
h1 { font-size: 1.75rem; line-height: 1.2; letter-spacing: -.015em; }
h1 small { margin-inline-start: .375rem; font-size: .875rem; font-weight: 400; letter-spacing: 0; color: var(--soft); }
h2 { margin-block: 2.5rem .25rem; font-size: 1.25rem; line-height: 1.3; letter-spacing: -.01em; }
h4 { margin-block: 1.25rem .375rem; font-size: .8125rem; font-weight: 600; color: var(--soft); }
.lead { max-width: 44rem; margin-block-start: .75rem; }
.about { margin-block-end: .75rem; color: var(--soft); }
.operation { margin-block: .5rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.operation > summary { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .125rem .75rem; align-items: baseline; padding: .75rem 1rem; cursor: pointer; list-style: none; }
.operation > summary::-webkit-details-marker { display: none; }
.operation > summary:hover .path { text-decoration: underline; text-underline-offset: .2em; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: .25rem; }
.method { font-weight: 700; font-size: .75rem; min-width: 3.5rem; }
.get { color: var(--get); } .post { color: var(--post); } .put { color: var(--put); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.path { overflow-wrap: anywhere; font-weight: 600; }
.summary { grid-column: 2; color: var(--soft); font-size: .9375rem; }
.detail { padding: 0 1rem 1rem; border-block-start: 1px solid var(--line); font-size: .9375rem; }
.detail > p { margin-block-start: .75rem; }
.fields { padding: 0; list-style: none; }
.fields .fields { margin: .25rem 0 .25rem .25rem; padding-inline-start: .875rem; border-inline-start: 1px solid var(--line); }
.fields li { padding-block: .1875rem; overflow-wrap: anywhere; }
.name { font-weight: 600; margin-inline-end: .375rem; }
.type { color: var(--soft); }
.required { margin-inline-end: .375rem; font-size: .75rem; color: var(--delete); }
.bounds { color: var(--soft); font-size: .875rem; }
pre { margin-block-start: .5rem; padding: .75rem 1rem; overflow-x: auto; background: var(--panel); border-radius: .5rem; tab-size: 2; }
.status { display: inline-block; min-width: 2.5rem; font-weight: 600; }
.sample > summary { padding-block: .375rem; color: var(--link); cursor: pointer; font-size: .875rem; }
.find { margin-block-start: 1rem; }
.find input { width: 100%; max-width: 44rem; min-height: 2.75rem; padding: .5rem .875rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.curl code { display: block; overflow-x: auto; }
.curl button { min-height: 2.75rem; margin-block-start: .5rem; padding-inline: .875rem; font: inherit; color: inherit; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; cursor: pointer; }
@media (min-width: 60rem) {
	.page { grid-template-columns: 15rem minmax(0, 1fr); }
	nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 2rem 1rem; border: 0; }
	nav ul { columns: 1; }
	main { padding: 2rem 1.5rem 6rem; }
	.operation > summary { grid-template-columns: auto minmax(0, 1fr) auto; }
	.summary { grid-column: 3; }
}
`;
