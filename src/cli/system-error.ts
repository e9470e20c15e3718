import {existsSync, statSync} from 'node:fs';
import path from 'node:path';

type SystemError = Error & {code?: string; syscall: string; path?: string; port?: number; address?: string};

type SystemFault = {message: string; nextStep: string | null};

/** An option, an argument or a variable, and the path that it gives. */
export type PathOrigin = readonly [name: string, value: string];

/** Where the paths of a command line come from; a value may be no path at all. */
export type PathOrigins = {cwd: string; named: readonly PathOrigin[]};

const isFolder = (file: string): boolean => statSync(file, {throwIfNoEntry: false})?.isDirectory() ?? false;

/**
 * The option, argument or variable that gave the path of an error: the same path, else the longest one above it. Node does
 * not name a folder that was read as a file, so for that error any folder.
 */
const originOf = (
	{path: failed, code}: SystemError,
	{cwd, named}: PathOrigins,
): {name: string; file: string} | null => {
	const files = named.map(([name, value]) => ({name, file: path.resolve(cwd, value)}));
	if (failed === undefined) {
		return (code === 'EISDIR' && files.find(({file}) => isFolder(file))) || null;
	}

	const [nearest] = files
		.filter(
			({file}) => path.resolve(cwd, failed) === file || path.resolve(cwd, failed).startsWith(`${file}${path.sep}`),
		)
		.toSorted((a, b) => b.file.length - a.file.length);
	return nearest ?? null;
};

/** How to name another path. */
const pathHint = (name: string | undefined): string =>
	name === undefined ? 'name another one' : name.startsWith('--') ? `name another one with ${name}` : `change ${name}`;

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const correct = (name: string | undefined): string | null => (name === undefined ? null : `Correct ${name}`);

const byCode: Record<string, (error: SystemError, where: string, name: string | undefined) => SystemFault> = {
	EADDRINUSE: ({port}) => ({
		message: `Port ${port} is in use by another program`,
		nextStep: 'Stop that program, or set PORT to another port',
	}),
	EADDRNOTAVAIL: ({address}) => ({
		message: `${address} is not an address of this machine`,
		nextStep: 'Set HOST to one that it has, or to 0.0.0.0 for all of them',
	}),
	EACCES: ({port, syscall}, where, name) =>
		syscall === 'listen'
			? {message: `Port ${port} is not open to this user`, nextStep: 'Set PORT to 1024 or above'}
			: {message: `This user may not use ${where}`, nextStep: `Change its owner or mode, or ${pathHint(name)}`},
	EPERM: (_, where, name) => ({
		message: `This user may not use ${where}`,
		nextStep: `Change its owner or mode, or ${pathHint(name)}`,
	}),
	EROFS: (_, where, name) => ({
		message: `${where} is on a read-only file system`,
		nextStep: capital(pathHint(name)),
	}),
	ENOSPC: (_, where, name) => ({
		message: `No space is left for ${where}`,
		nextStep: `Free some, or ${pathHint(name)}`,
	}),
	EEXIST: (_, where, name) => ({
		message: `${where} exists and is not a folder`,
		nextStep: `Remove it, or ${pathHint(name)}`,
	}),
	ENOENT: (_, where, name) => ({
		message: `${existsSync(path.dirname(where)) ? where : `The folder ${path.dirname(where)}`} does not exist`,
		nextStep: correct(name),
	}),
	ENOTDIR: (_, where, name) => ({message: `A part of ${where} is not a folder`, nextStep: correct(name)}),
	EISDIR: (_, where, name) => ({message: `${where} is a folder, not a file`, nextStep: correct(name)}),
};

export const isSystemError = (error: unknown): error is SystemError => error instanceof Error && 'syscall' in error;

/**
 * A sentence for a failed system call, with the option or variable that gave its path; unusual errors keep the system's
 * message.
 */
export const explainSystemError = (error: SystemError, origins: PathOrigins): SystemFault => {
	const origin = originOf(error, origins);
	const where = error.path ?? origin?.file ?? 'the file';
	return byCode[error.code ?? '']?.(error, where, origin?.name) ?? {message: error.message, nextStep: null};
};
