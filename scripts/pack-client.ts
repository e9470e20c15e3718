import {rename, stat} from 'node:fs/promises';
import path from 'node:path';
import {buildClientPackage, packFolder} from './client-package.ts';

/** Makes `dist/oplink-client/` and, beside it, what an app installs of it. */
const root = path.resolve(import.meta.dirname, '..');
const folder = path.join(root, 'dist', 'oplink-client');
await buildClientPackage(root, folder);
const packed = await packFolder(folder, path.join(root, 'dist'));
// The server's own package is packed under the name that npm gives this one.
const archive = path.join(path.dirname(packed), path.basename(packed).replace('oplink-', 'oplink-client-'));
await rename(packed, archive);
console.log(`${path.relative(root, archive)}: ${(await stat(archive)).size} bytes`);
