import {isUtf8} from 'node:buffer';
import {closeSync, constants, fstatSync, openSync, readFileSync} from 'node:fs';
import path from 'node:path';
import {type Environment, textOf} from './variable.ts';

/** A secret variable's text, and the place that it came from: `from` is a path, null for the environment. */
export type Secret = {text: string; source: 'environment' | 'file' | 'credential'; from: string | null};

/** The secret variables that are set, by name, and a sentence for each that could not be read. */
export type Secrets = {known: ReadonlyMap<string, Secret>; faults: readonly string[]};

const MAX_BYTES = 65_536;

/** A pipe is not waited for. Links are followed, because Kubernetes mounts secrets by links. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK;

const REASONS: Readonly<Record<string, string>> = {
	ENOENT: 'there is no such file',
	EACCES: 'permission denied',
	ENXIO: 'it is not a regular file',
};

/** A file's bytes. @throws Error with a reason, or the system's error. */
const bytesOf = (file: string): Buffer => {
	const handle = openSync(file, FLAGS);
	try {
		const stat = fstatSync(handle);
		if (!stat.isFile()) {
			throw new Error(stat.isDirectory() ? 'it is a folder' : 'it is not a regular file');
		}

		if (stat.size > MAX_BYTES) {
			throw new Error('it is larger than 65,536 bytes');
		}

		return readFileSync(handle);
	} finally {
		closeSync(handle);
	}
};

/** The secret in a file, without one line break at its end. @throws as `bytesOf`; no message has a part of the file. */
const secretIn = (file: string): string => {
	const bytes = bytesOf(file);
	if (!isUtf8(bytes) || bytes.includes(0)) {
		throw new Error('it is not a text in UTF-8');
	}

	const text = bytes.toString().replace(/\r?\n$/, '');
	if (text.trim() === '') {
		throw new Error('it is empty');
	}

	return text;
};

/** @returns null if a credential is missing, because systemd names the folder to every service that has any. */
const readOne = (env: Environment, name: string): Secret | null => {
	const text = textOf(env, name);
	const named = textOf(env, `${name}_FILE`);
	if (text !== null && named !== null) {
		throw new Error(`${name} and ${name}_FILE are both set: remove one of them`);
	}

	if (text !== null) {
		return {text, source: 'environment', from: null};
	}

	const folder = textOf(env, 'CREDENTIALS_DIRECTORY');
	const from = named ?? (folder && path.join(folder, name));
	if (from === null) {
		return null;
	}

	try {
		return {text: secretIn(from), source: named === null ? 'credential' : 'file', from};
	} catch (error) {
		const {code = '', message} = error as {code?: string; message: string};
		if (named === null && code === 'ENOENT') {
			return null;
		}

		throw new Error(`${name} cannot be read from ${from}: ${REASONS[code] ?? (code || message)}`);
	}
};

/**
 * Reads secrets from `NAME`, the file that `NAME_FILE` names, or systemd's `$CREDENTIALS_DIRECTORY/NAME`, in this order
 * (contract/operations 6).
 */
export const readSecrets = (env: Environment, names: readonly string[]): Secrets => {
	const known = new Map<string, Secret>();
	const faults: string[] = [];
	for (const name of names) {
		try {
			const secret = readOne(env, name);
			if (secret !== null) {
				known.set(name, secret);
			}
		} catch (error) {
			faults.push((error as Error).message);
		}
	}

	return {known, faults};
};

/** The text of each variable: of a secret wherever it came from, of others from `env`. */
export const textsOf =
	(env: Environment, {known}: Secrets) =>
	(name: string): string | null =>
		known.get(name)?.text ?? textOf(env, name);
