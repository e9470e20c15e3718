import {execFile} from 'node:child_process';
import {access, chmod, constants, mkdir, readdir, rm, writeFile} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {packageRoot} from '../../src/platform/package-root.ts';
import {downloadByApt} from './apt-download.ts';

export type ProgramSource = {
	/** Its name in messages and in the cache folder. */
	name: string;
	/** The environment variable with the path of one. */
	variable: string;
	/** Its possible names on PATH, best first. */
	names: string[];
	/** The distribution's packages that it takes; their libraries come by themselves. */
	packages: string[];
	/** Where it lies in them. */
	binary: string;
	/** Files to write beside what is unpacked, and variables for the program; `$root` stands for the place of both. */
	files?: Record<string, string>;
	variables?: Record<string, string>;
};

const execute = promisify(execFile);

const works = async (command: string): Promise<boolean> => {
	try {
		await execute(command, ['--version']);
		return true;
	} catch {
		return false;
	}
};

const findInstalled = async ({variable, names}: ProgramSource): Promise<string | null> => {
	const {[variable]: given, PATH = ''} = process.env;
	if (given) {
		if (await works(given)) {
			return given;
		}

		throw new Error(`${variable} is ${given}, which cannot be run`);
	}

	const folders = PATH.split(path.delimiter).filter(Boolean);
	for (const command of names.flatMap((name) => folders.map((folder) => path.join(folder, name)))) {
		if (await works(command)) {
			return command;
		}
	}

	return null;
};

/** The folders of an unpacked tree that hold shared libraries, relative to it, the loader's usual ones first. */
const libraryFolders = async (root: string): Promise<string[]> => {
	const folders = new Set<string>();
	for (const top of ['usr/lib', 'lib']) {
		const files = await readdir(path.join(root, top), {recursive: true}).catch(() => []);
		for (const file of files.filter((name) => /\.so(\.|$)/.test(name))) {
			folders.add(path.join(top, path.dirname(file)));
		}
	}

	return [...folders].sort((one, other) => one.length - other.length);
};

const LAUNCHER = 'launch';

/** Writes the script that starts the unpacked program with the libraries beside it, wherever the tree lies. */
const writeLauncher = async (root: string, {binary, files = {}, variables = {}}: ProgramSource): Promise<void> => {
	for (const [name, text] of Object.entries(files)) {
		await writeFile(path.join(root, name), text);
	}

	const libraries = (await libraryFolders(root)).map((folder) => `$root/${folder}`).join(':');
	const exported = Object.entries({LD_LIBRARY_PATH: libraries, ...variables});
	const lines = [
		'#!/bin/sh',
		`root=$(cd "\${0%/*}" && pwd)`,
		...exported.map(([name, value]) => `export ${name}="${value}"`),
		`exec "$root/${binary}" "$@"`,
	];
	await writeFile(path.join(root, LAUNCHER), `${lines.join('\n')}\n`);
	await chmod(path.join(root, LAUNCHER), 0o755);
};

const isWritable = async (folder: string): Promise<boolean> => {
	try {
		await mkdir(folder, {recursive: true});
		await access(folder, constants.W_OK);
		return true;
	} catch {
		return false;
	}
};

/** The folder of downloads: the checkout, or the user's temporary folder if that is read-only. */
const cacheFolders = (): string[] => [
	path.join(packageRoot, '.cache'),
	path.join(os.tmpdir(), `oplink-cache-${process.getuid?.() ?? 'user'}`),
];

const download = async (source: ProgramSource, trees: string[]): Promise<{command: string} | {reason: string}> => {
	for (const tree of trees) {
		if (await isWritable(path.dirname(tree))) {
			const command = path.join(tree, LAUNCHER);
			let reason = `the downloaded ${source.name} does not run here`;
			try {
				console.error(`Downloading ${source.name} for the tests …`);
				await rm(tree, {recursive: true, force: true});
				await downloadByApt(source.packages, tree, (root) => writeLauncher(root, source));
			} catch (error) {
				reason = (error as Error).message.trim();
			}

			// Another run may have put one there in the meantime.
			return (await works(command)) ? {command} : {reason};
		}
	}

	return {reason: 'no folder to download into can be written'};
};

/**
 * The path of a program that tests need: an installed one, else an earlier download, else one downloaded now by apt, or
 * the reason why there is none.
 * @throws if the variable names one that cannot run.
 */
export const findProgram = async (source: ProgramSource): Promise<{command: string} | {reason: string}> => {
	const installed = await findInstalled(source);
	if (installed !== null) {
		return {command: installed};
	}

	const trees = cacheFolders().map((folder) => path.join(folder, source.name));
	for (const tree of trees) {
		const command = path.join(tree, LAUNCHER);
		if (await works(command)) {
			return {command};
		}
	}

	return download(source, trees);
};
