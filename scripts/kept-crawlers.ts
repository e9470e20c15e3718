import {readFileSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';
import {packageRoot} from '../src/platform/package-root.ts';
import type {OwnLists, PackageLists} from '../src/visits/visit/user-agent-lists.ts';

/**
 * Makes `config/kept-crawlers.json` of the list that `crawler-user-agents` keeps, without its HTTP libraries, whose visits
 * are clicks, and without the patterns that `config/crawlers.json` does not take. `npm run crawlers` writes it.
 */
const FILE = path.join(packageRoot, 'config', 'kept-crawlers.json');
const FROM = 'crawler-user-agents';

/** A crawler of that list; `instances` are User-Agents that it was seen with. */
export type KnownCrawler = {pattern: string; tags?: string[]; instances?: string[]};

export const knownCrawlers = createRequire(import.meta.url)(FROM) as KnownCrawler[];

/** The version of the list that the manifest asks for. */
const version = (): string => {
	const {devDependencies} = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as {
		devDependencies: Record<string, string>;
	};
	return devDependencies[FROM] ?? 'of no known version';
};

/**
 * The texts that a pattern matches, `^` before those that are at the start.
 * @throws Error for a pattern that is more than literals, alternatives and a letter in two cases.
 */
export const literalsOf = (pattern: string): string[] => {
	const group = /^(.*?)(?<!\\)\(((?:[^()\\]|\\.)*)\)(.*)$/.exec(pattern);
	if (group) {
		const [, before = '', inside = '', after = ''] = group;
		return inside.split('|').flatMap((alternative) => literalsOf(before + alternative + after));
	}

	const letters = /^(.*?)(?<!\\)\[([A-Za-z]{2})\](.*)$/.exec(pattern);
	if (letters) {
		const [, before = '', inside = '', after = ''] = letters;
		return [...inside].flatMap((letter) => literalsOf(before + letter + after));
	}

	return pattern.split('|').map((alternative) => {
		const text = alternative.replace(/\$$/, '').replaceAll(/\\([^A-Za-z0-9])/g, '$1');
		const plain = alternative
			.replace(/^\^/, '')
			.replace(/\$$/, '')
			.replaceAll(/\\[^A-Za-z0-9]/g, '');
		if (/[\\[\](){}^$*+?]/.test(plain) || /(?<!\\)\./.test(alternative) || text.replace(/^\^/, '').length < 3) {
			throw new Error(`${pattern} isn't a literal: name it in "excluded" of config/crawlers.json`);
		}

		return text;
	});
};

const listOf = (tags: readonly string[]): 'preview' | 'search' | 'robot' =>
	tags.includes('social-preview')
		? 'preview'
		: tags.includes('search-engine') || tags.includes('ai-crawler')
			? 'search'
			: 'robot';

/** What `config/kept-crawlers.json` has to be. @throws Error where `excluded` names a pattern that the list has not. */
export const keptLists = (): PackageLists => {
	const {excluded} = JSON.parse(readFileSync(path.join(packageRoot, 'config', 'crawlers.json'), 'utf8')) as OwnLists;
	const known = new Set(knownCrawlers.map(({pattern}) => pattern));
	const unknown = Object.keys(excluded).filter((pattern) => !known.has(pattern));
	if (unknown.length > 0) {
		throw new Error(`Not in ${FROM} ${version()}: ${unknown.join(', ')}`);
	}

	const lists = {preview: new Set<string>(), search: new Set<string>(), robot: new Set<string>()};
	for (const {pattern, tags = []} of knownCrawlers) {
		if (!tags.includes('http-library') && !(pattern in excluded)) {
			for (const literal of literalsOf(pattern)) {
				lists[listOf(tags)].add(literal);
			}
		}
	}

	return {
		source: `${FROM} ${version()}`,
		licence: 'MIT, Copyright (c) 2017 Martin Monperrus',
		preview: [...lists.preview].sort(),
		search: [...lists.search].sort(),
		robot: [...lists.robot].sort(),
	};
};

if (process.argv[1] === import.meta.filename) {
	writeFileSync(FILE, `${JSON.stringify(keptLists(), null, '\t')}\n`);
}
