import {networkKeysOf} from '../../src/clicks/network-keys.ts';
import {clickIdOfToken, type MatchToken} from '../../src/clicks/open-match.ts';
import {type MatchFields, type SentToken, tokensOf} from '../../src/match/match-request.ts';
import {type MatchSignals, normalise, signalsOfApp} from '../../src/match/match-signals.ts';
import type {NetworkKind} from './networks.ts';
import type {Model} from './phones.ts';
import type {Visit} from './visit.ts';

/** Keys of an address as the server has them, printable. */
export type Keys = {ip: string; net: string};

type At = {
	at: Date;
	person: number;
	organizationId: string;
	keys: Keys;
	network: NetworkKind;
	/** The IPv4 address of the network, over whichever family the connection went. */
	place: string;
};

export type Click = At & {
	type: 'click';
	id: string;
	linkId: string;
	signals: MatchSignals;
	/** What other products compare. */
	raw: Pick<Visit, 'userAgent' | 'screen'> & {language: string | null; timezone: string | null};
	tokenId: string;
	/** The browser whose cookie it has. */
	visitor: string | null;
};

export type Open = At & {
	type: 'open';
	/** The click that led here, or null for who came without one. */
	cause: Click | null;
	/** Everything of this tenant that the person clicked before. */
	clicked: Set<string>;
	signals: MatchSignals;
	raw: {platform: 'ios' | 'android'; language: string; timezone: string; screen: Pick<Model, 'width' | 'height'>};
	tokens: SentToken[];
};

/** One secret for the week: rotation is tested elsewhere and changes nothing here. */
const PEPPER = Buffer.alloc(32, 7);

export const keysOf = (ip: string): Keys => {
	const {ipKey, netKey} = networkKeysOf(PEPPER, ip);
	return {ip: ipKey.toString('base64'), net: netKey.toString('base64')};
};

export const makeClick = (
	base: Omit<At, 'keys'> & {ip: string},
	{id, linkId, token, visit}: {id: string; linkId: string; token: MatchToken; visit: Visit},
): Click => {
	const {ip, ...rest} = base;
	const {told, userAgent, screen, takesCookie, browser} = visit;
	return {
		...rest,
		type: 'click',
		id,
		linkId,
		keys: keysOf(ip),
		signals: normalise(told),
		raw: {userAgent, screen, language: told.language, timezone: told.timezone},
		tokenId: clickIdOfToken(token),
		visitor: takesCookie ? `${base.person} ${browser}` : null,
	};
};

export const makeOpen = (
	base: Omit<At, 'keys'> & {ip: string},
	{
		fields,
		screen,
		cause,
		clicked,
	}: {
		fields: MatchFields;
		screen: Open['raw']['screen'];
		cause: Click | null;
		clicked: Set<string>;
	},
): Open => {
	const {ip, ...rest} = base;
	return {
		...rest,
		type: 'open',
		cause,
		clicked,
		keys: keysOf(ip),
		signals: signalsOfApp(fields),
		raw: {
			platform: fields.platform === 'iOS' ? 'ios' : 'android',
			language: fields.language ?? '',
			timezone: fields.timezone ?? '',
			screen,
		},
		tokens: tokensOf(fields),
	};
};
