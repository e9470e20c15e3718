import {readFileSync} from 'node:fs';
import {parseEnv} from 'node:util';
import type {Secrets} from './secrets.ts';
import {type Environment, textOf} from './variable.ts';
import {configTable} from './variables.ts';

/** Where a value came from; null if it is unset and has no default. `from` is the path of a file. */
type Origin = {
	source: 'environment' | 'file' | 'credential' | 'env-file' | 'default' | null;
	from: string | null;
};

/** Separates the files of `--env-file` in Node's options from the other options. */
export const splitEnvFiles = (options: readonly string[]): {files: string[]; others: string[]} => {
	const files: string[] = [];
	const others: string[] = [];
	const rest = options.values();
	for (const option of rest) {
		const found = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(option);
		if (found === null) {
			others.push(option);
		} else {
			files.push(found[1] ?? rest.next().value ?? '');
		}
	}

	return {files, others};
};

/** Finds the file of Node's option `--env-file` that set a variable: the last one with its value. */
const findEnvFile = (options: readonly string[]) => {
	const files = splitEnvFiles(options).files.toReversed();
	const read = files.flatMap((file): Array<[file: string, values: Environment]> => {
		try {
			return [[file, parseEnv(readFileSync(file, 'utf8'))]];
		} catch {
			// The file existed when Node read it, and its values are in the environment.
			return [];
		}
	});
	return (env: Environment, name: string): string | null =>
		read.find(([, values]) => values[name] !== undefined && values[name] === env[name])?.[0] ?? null;
};

/**
 * The variables for `oplink config`: their values, secrets masked, defaults, and where each came from.
 * @param nodeOptions of this process, which may name files of variables.
 */
export const describeConfig = (env: Environment, {known}: Secrets, nodeOptions: readonly string[] = []) => {
	const envFileOf = findEnvFile(nodeOptions);
	const originOf = (name: string, hasDefault: boolean): Origin => {
		const secret = known.get(name);
		if (secret !== undefined && secret.source !== 'environment') {
			return {source: secret.source, from: secret.from};
		}

		if (textOf(env, name) === null) {
			return {source: hasDefault ? 'default' : null, from: null};
		}

		const from = envFileOf(env, name);
		return {source: from === null ? 'environment' : 'env-file', from};
	};
	return configTable.map(({name, meaning, fallback, fallbackInWords, isSecret: secret}) => {
		const set = secret ? (known.has(name) ? '********' : null) : textOf(env, name);
		const inWords = fallbackInWords ?? String(fallback ?? '');
		return {name, value: set, default: inWords, meaning, secret, ...originOf(name, inWords !== '')};
	});
};
