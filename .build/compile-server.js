import {createHash} from 'node:crypto';
import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {Script} from 'node:vm';

// `node compile-server.js FILE`: writes what V8 makes of the server beside it, for `src/cli/server/load-server.ts`. Plain
// JavaScript, and a process of its own, because V8 takes it only under the flags that it was made with. It is run first,
// because functions are compiled when they are called.
const [, , file] = process.argv;
const source = readFileSync(file, 'latin1');
const [, digest] = /^\/\*([0-9a-f]{64})\*\//.exec(source);
const script = new Script(source, {filename: file});
const module = {exports: {}};
script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));
await module.exports.loadLate();
const compiled = script.createCachedData();
const own = createHash('sha256').update(compiled).digest('hex');
writeFileSync(`${file}.compiled`, Buffer.concat([Buffer.from(digest + own), compiled]));
