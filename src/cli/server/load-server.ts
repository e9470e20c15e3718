import {createHash} from 'node:crypto';
import {closeSync, fstatSync, openSync, readSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {fileURLToPath} from 'node:url';
import {Script} from 'node:vm';
import type {serve} from '../../start/serve.ts';

type Server = {serve: typeof serve};

/** `dist/server.cjs`, which the build makes: the server as one script, in front of it its digest as a comment. */
const file = fileURLToPath(new URL('../server.cjs', import.meta.url));

/** SHA-256 in hexadecimal. */
const DIGEST_LENGTH = 64;

/**
 * A file's bytes in memory that can be given back whole. Once a block of malloc's as large as the server is freed, glibc takes
 * all that are smaller from its heaps, where the holes of many requests stay: 7 MB of a server under load (docs/performance.md).
 * A buffer that may be resized has pages of its own instead.
 * @throws what the file system says.
 */
const bytesOf = (name: string): Buffer => {
	const handle = openSync(name, 'r');
	try {
		const {size} = fstatSync(handle);
		const bytes = Buffer.from(new ArrayBuffer(size, {maxByteLength: size}));
		let length = 0;
		for (let read = -1; read !== 0 && length < size; length += read) {
			read = readSync(handle, bytes, length, size - length, null);
		}

		return bytes.subarray(0, length);
	} finally {
		closeSync(handle);
	}
};

const textOf = (name: string): string | null => {
	try {
		// Nothing but ASCII is in it; read as UTF-8 it would take twice the memory while it is looked through.
		return bytesOf(name).toString('latin1');
	} catch {
		return null;
	}
};

/**
 * What V8 made of this very script when it was built, behind the digests of the script and of itself. V8 looks by itself
 * whether that was the same V8 under the same flags, but would run, or die of, whatever else is not as it was written.
 */
const compiledOf = (digest: string): Buffer | undefined => {
	try {
		const bytes = bytesOf(`${file}.compiled`);
		const compiled = bytes.subarray(2 * DIGEST_LENGTH);
		const written = bytes.toString('latin1', 0, 2 * DIGEST_LENGTH);
		return written === digest + createHash('sha256').update(compiled).digest('hex') ? compiled : undefined;
	} catch {
		return undefined;
	}
};

/** Runs the script; what V8 made of it before spares parsing and compiling it, a third of a start (docs/performance.md). */
const run = (source: string): Server => {
	const digest = source.slice(2, 2 + DIGEST_LENGTH);
	const script = new Script(source, {filename: file, cachedData: compiledOf(digest)});
	const module = {exports: {}};
	script.runInThisContext()(module.exports, createRequire(file), module, file, path.dirname(file));
	return module.exports as Server;
};

/** The server. Its modules are large, and no other command needs them. */
export const loadServer = async (): Promise<Server> => {
	// Traces that name the sources need the modules as they are, and so does whoever has not built.
	const source = process.sourceMapsEnabled ? null : textOf(file);
	return source === null ? import('../../start/serve.ts') : run(source);
};
