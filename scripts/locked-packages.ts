import {readFile} from 'node:fs/promises';
import path from 'node:path';

type LockedPackage = {
	dev?: boolean;
	devOptional?: boolean;
	optional?: boolean;
	dependencies?: Record<string, string>;
	peerDependencies?: Record<string, string>;
	license?: string;
	version: string;
};

/** Packages by their folders. */
export type Packages = Record<string, LockedPackage>;

/** The packages that npm installs for production, as the lock file has them. */
export const readPackages = async (root: string): Promise<Packages> => {
	const lock: {packages: Packages} = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8'));
	return Object.fromEntries(
		Object.entries(lock.packages).filter(([folder, {dev, devOptional}]) => folder !== '' && !dev && !devOptional),
	);
};

export const nameOf = (folder: string): string => folder.replace(/^.*node_modules\//, '');
