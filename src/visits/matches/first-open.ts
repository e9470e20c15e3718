import type {Organization} from '../../accounts/organizations/organization-store.ts';
import type {Services} from '../../services.ts';
import {type MatchFields, tokensOf} from './match-request.ts';
import {type MatchSignals, signalsOfApp} from './match-signals.ts';
import {deviceKeyOf, type NetworkKeys, networkKeysOf} from './network-keys.ts';

/** A request for a match: its body and its origin. */
export type MatchRequest = {
	fields: MatchFields;
	/** The caller's address. */
	ip: string;
	/** The organization of a valid CLIENT key. */
	organization: Organization | null;
	/**
	 * Whether a script of a web page sent the request, which a browser marks by `Origin`. Any page could send one from the
	 * browser of a recent visitor, so without a key it gets no guess.
	 */
	isOfWebPage?: boolean;
	userAgent?: string | undefined;
	/** The id of the recorded attempt, for a caller that reads it (default: a new one). */
	attemptId?: string;
};

/** An app's first open, in the forms that find and compare clicks. */
export type FirstOpen = {
	now: Date;
	signals: MatchSignals;
	/** Under this week's secret, and last week's if there is one. */
	places: [NetworkKeys, ...NetworkKeys[]];
	devices: [Buffer, ...Buffer[]];
	/** Whether it had a token, valid or not. */
	hasToken: boolean;
	/** If false, only a token can match. */
	allowsGuesses: boolean;
	/** The organization of the key, to which guesses are confined (contract/match 10). */
	organizationId: string | null;
};

export const firstOpenOf = async (
	{matchPeppers, clock, relayRanges}: Pick<Services, 'matchPeppers' | 'clock' | 'relayRanges'>,
	{fields, ip, organization, isOfWebPage = false}: MatchRequest,
): Promise<FirstOpen> => {
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
