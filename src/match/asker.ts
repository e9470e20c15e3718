import {deviceKeyOf, type NetworkKeys, networkKeysOf} from '../clicks/network-keys.ts';
import type {Organization} from '../organizations/organization-store.ts';
import type {Services} from '../services.ts';
import {type MatchFields, tokensOf} from './match-request.ts';
import {type MatchSignals, signalsOfApp} from './match-signals.ts';

/** What a request for a match comes with, beside its body. */
export type MatchRequest = {
	fields: MatchFields;
	/** The caller's address. */
	ip: string;
	/** The organization of a valid CLIENT key. */
	organization: Organization | null;
	/**
	 * Whether a script of a web page asks, as a browser says by `Origin`. Any page could ask from the browser of whoever
	 * just tapped a link, so that without a key it gets nothing by a guess.
	 */
	isOfWebPage?: boolean;
	/** What the attempt is recorded as, for a caller who reads it; a new id unless given. */
	attemptId?: string;
};

/** An app that asks where it came from, in the forms in which clicks are looked up and compared. */
export type Asker = {
	now: Date;
	signals: MatchSignals;
	/** Under this week's secret, and last week's where there is one. */
	places: [NetworkKeys, ...NetworkKeys[]];
	devices: [Buffer, ...Buffer[]];
	/** Whether it sent a token, of whatever click. */
	hasToken: boolean;
	/** Without them a token alone decides. */
	allowsGuesses: boolean;
	/** Guesses stay within it (contract/match 10). */
	organizationId: string | null;
};

export const askerOf = async (
	{matchPeppers, clock, relayRanges}: Pick<Services, 'matchPeppers' | 'clock' | 'relayRanges'>,
	{fields, ip, organization, isOfWebPage = false}: MatchRequest,
): Promise<Asker> => {
	const now = clock.now();
	const [current, ...previous] = await matchPeppers.at(now);
	const {deviceId, platform, osVersion, deviceModel, language, timezone} = fields;
	const traits = [platform, osVersion, deviceModel, language, timezone].map((value) => value ?? null);
	const device = (pepper: Buffer) => deviceKeyOf(pepper, {deviceId: deviceId ?? null, ip, traits});
	const place = (pepper: Buffer) => networkKeysOf(pepper, ip, relayRanges.has(ip));
	return {
		now,
		signals: signalsOfApp(fields),
		places: [place(current), ...previous.map(place)],
		devices: [device(current), ...previous.map(device)],
		hasToken: tokensOf(fields).length > 0,
		allowsGuesses: !isOfWebPage || organization !== null,
		organizationId: organization?.id ?? null,
	};
};
