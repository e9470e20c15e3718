import {isIP} from 'node:net';
import {domainToASCII} from 'node:url';
import {plainIp} from '../client-ip.ts';

/** `hosts`: these hosts alone; `domains`: with all names below them; `urls`: hosts, and single addresses. */
export type ListFormat = 'hosts' | 'domains' | 'urls';

const BOM = Buffer.from('\uFEFF');

/** A host as the URL parser writes it, without a trailing dot; an IPv4 address in an IPv6 one as itself. */
export const normalHost = (hostname: string): string => {
	const host = hostname.replace(/\.$/, '');
	return host.startsWith('[') ? plainIp(host.slice(1, -1)) : host;
};

/** The host, path and query of a URL, without scheme, port and fragment. */
export const addressOf = ({hostname, pathname, search}: URL): string => normalHost(hostname) + pathname + search;

export const isAddress = (host: string): boolean => isIP(host) !== 0;

/** A name that needs no URL parser: its last label is no number. */
const PLAIN_NAME = /^(?:[a-z0-9_-]+\.)+[a-z_-][a-z0-9_-]*$/;

/** The host of an entry in normal form; null for a text that is none, or a name without a dot. */
const hostOf = (text: string): string | null => {
	const name = text.toLowerCase().replace(/\.$/, '');
	if (PLAIN_NAME.test(name)) {
		return name;
	}

	const plain = name.replace(/^\[(.*)\]$/, '$1');
	if (isAddress(plain)) {
		return normalHost(new URL(`http://${plain.includes(':') ? `[${plain}]` : plain}`).hostname);
	}

	const ascii = /[\s/?#@:%*$^|\\]/.test(name) ? '' : domainToASCII(name);
	return ascii.includes('.') ? ascii : null;
};

/** The URL of a line, unless it has another form: the parser would take `/rule/`, `@@host` and `host##.ad` for hosts. */
const urlOf = (text: string): URL | null => {
	if (/^[/@]|\s|##/.test(text)) {
		return null;
	}

	const href = /^https?:\/\//i.test(text) ? text : `http://${text}`;
	return URL.canParse(href) ? new URL(href) : null;
};

/** The entries of a line without comments; null for a line of another form. */
export const readers: Record<ListFormat, (line: string) => string[] | null> = {
	hosts: (line) => {
		const [first = '', ...rest] = line.split(/\s+/);
		const names = isAddress(first) ? rest : rest.length === 0 ? [first] : [];
		const hosts = names.map(hostOf).filter((host) => host !== null && !isAddress(host));
		return hosts.length === 0 ? null : (hosts as string[]);
	},
	domains: (line) => {
		const [, inner] = /^\|\|([^\s^]+)\^$/.exec(line) ?? [];
		const host = hostOf(inner ?? line);
		return host === null ? null : [host];
	},
	urls: (line) => {
		const url = urlOf(line);
		const host = url === null ? null : hostOf(url.hostname);
		if (url === null || host === null) {
			return null;
		}

		return [url.pathname === '/' && url.search === '' ? host : addressOf(url)];
	},
};

/** A line without the comment behind its entry; '' for a comment. `##.ad` is no comment, but a rule of another form. */
const withoutComment = (line: string): string =>
	/^\s*(?:#(?!#[^#\s])|!)/.test(line) ? '' : line.replace(/\s[#!].*$/s, '').trim();

/** The lines of a list without comments. Blank ones are empty. */
export function* linesOf(bytes: Buffer): Generator<string> {
	for (let from = bytes.subarray(0, 3).equals(BOM) ? 3 : 0; from < bytes.length; ) {
		const end = bytes.indexOf(10, from);
		const to = end === -1 ? bytes.length : end;
		yield withoutComment(bytes.toString('utf8', from, to));
		from = to + 1;
	}
}
