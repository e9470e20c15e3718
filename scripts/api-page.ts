import {createHash} from 'node:crypto';
import {copyFile, mkdir, readFile, writeFile} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {gzipSync} from 'node:zlib';

const from = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

/** Starts the viewer on the document beside it. Nothing is validated elsewhere, and one operation has one address. */
const START = `SwaggerUIBundle({
	url: '/openapi.json',
	dom_id: '#viewer',
	deepLinking: true,
	docExpansion: 'none',
	filter: true,
	defaultModelsExpandDepth: 0,
	validatorUrl: null,
});`;

/** The document has no links between operations. On a phone, a group's description stands below its name. */
const STYLE = `body{margin:0}
.swagger-ui .response-col_links{display:none}
@media(max-width:640px){
.swagger-ui .opblock-tag{flex-wrap:wrap}
.swagger-ui .opblock-tag small{flex:1 0 100%;order:1;padding:4px 0 0}
.swagger-ui .opblock-tag button{margin-left:auto}
}`;

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/**
 * Writes the page of the API, compressed, which is one file: Swagger UI, its style and its start. Beside it is the policy that allows
 * these by their hashes alone, and the licences.
 */
export const writeApiPage = async (folder: string): Promise<void> => {
	const [library, css] = await Promise.all(
		['swagger-ui-bundle.js', 'swagger-ui.css'].map((file) => readFile(path.join(from, file), 'utf8')),
	);
	// In an inline script these texts, which are in literals, would change where it ends.
	const script = `${library}\n${START}`
		.replaceAll(/<(?=!--|\/?script)/gi, '\\x3c')
		.replaceAll(/^\/\/# sourceMapping.*$/gm, '');
	const style = `${css}${STYLE}`.replaceAll(/\/\*# sourceMapping.*?\*\//g, '');
	const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>Oplink API</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="viewer"></div>
<noscript>The viewer needs a script. The document itself: <a href="/openapi.json">/openapi.json</a>.</noscript>
<script>${script}</script>
</body>
</html>
`;
	const policy = [
		"default-src 'none'",
		`style-src ${hashOf(style)}`,
		`script-src ${hashOf(script)}`,
		"connect-src 'self'",
		'img-src data:',
		"base-uri 'none'",
		"form-action 'none'",
		"frame-ancestors 'none'",
	].join('; ');
	await mkdir(folder, {recursive: true});
	await Promise.all([
		writeFile(path.join(folder, 'page.html.gz'), gzipSync(page, {level: 9})),
		writeFile(path.join(folder, 'policy.txt'), policy),
		...['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'].map((file) =>
			copyFile(path.join(from, file), path.join(folder, file)),
		),
	]);
};
