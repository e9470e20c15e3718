import {mkdir, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {cliPages} from './cli-pages.ts';

// `npm run docs:cli`: writes docs/cli anew, so that a command that is gone leaves no page.
const folder = fileURLToPath(new URL('../../docs/cli/', import.meta.url));
await rm(folder, {recursive: true, force: true});
await mkdir(folder);
for (const [name, text] of cliPages()) {
	await writeFile(path.join(folder, name), text);
}
