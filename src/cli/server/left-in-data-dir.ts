import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {variables} from '../../platform/config/variables.ts';
import {ADDRESS_FILE} from '../../start/own-address.ts';
import type {Io} from '../terminal/io.ts';

/** The folder of the server on this machine, as it is named. */
export const dataDirOf = (env: Io['env']): string => env['DATA_DIR'] || variables.dataDir.fallback;

/** A link is not followed, and a pipe not waited for: a folder may be a stranger's. */
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

type DataDirFile = {text: string; isOurs: boolean};

/** A file that the server on this machine left in its DATA_DIR; an unreadable one counts as absent. */
const readDataDirFile = ({env, cwd}: Io, name: string): DataDirFile | null => {
	try {
		const file = openSync(path.resolve(cwd, dataDirOf(env), name), FLAGS);
		try {
			const isOurs = fstatSync(file).uid === (process.geteuid?.() ?? 0);
			return {text: readFileSync(file, 'utf8').trim(), isOurs};
		} finally {
			closeSync(file);
		}
	} catch {
		return null;
	}
};

/** The token that the server of this user on this machine keeps. */
export const leftToken = (io: Io): string | null => {
	const left = readDataDirFile(io, 'admin-token');
	return left?.isOurs ? left.text || null : null;
};

/** Whether the URL names this machine. */
export const isLoopback = (url: string): boolean =>
	/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/i.test(new URL(url).hostname);

/** The address that the server of this user on this machine wrote, or the reason why its file is not followed. */
export const leftAddress = (
	io: Io,
): {file: string; url: string; fault?: never} | {url?: never; fault: string} | null => {
	const left = readDataDirFile(io, ADDRESS_FILE);
	if (left === null) {
		return null;
	}

	const {isOurs} = left;
	// The newest of several servers on the folder is the first.
	const [text = ''] = left.text.split('\n', 1);
	const file = path.join(dataDirOf(io.env), ADDRESS_FILE);
	const fault = (why: string) => ({fault: `${file} is not followed, because it ${why}`});
	if (!isOurs) {
		return fault('belongs to another user');
	}

	return URL.canParse(text) && new URL(text).protocol === 'http:' && isLoopback(text)
		? {file, url: text}
		: fault('names no address of this machine: name the server with --url');
};
