import type {IncomingHttpHeaders} from 'node:http';
import Joi from 'joi';
import {findKeyHolder, noteKeyUse} from '../../accounts/api-keys/authenticate-key.ts';
import type {Organization} from '../../accounts/organizations/organization-store.ts';
import type {Services} from '../../services.ts';
import {deviceIdField, reportedField} from '../devices/device-fields.ts';
import {type DeviceFields, type MatchSignals, signalsOfApp} from './match-signals.ts';
import {deviceKeyOf, type NetworkKeys, networkKeysOf} from './network-keys.ts';
import {clickIdOfToken, matchTokenIn} from './open-match.ts';

/** The body of POST /match (contract/match 1); null counts as omitted. */
export type MatchFields = DeviceFields & {
	clipboardToken?: string | null;
	installReferrer?: string | null;
	deviceId?: string | null;
};

const tokenField = Joi.string().allow('', null).max(100);

export const matchBody = Joi.object<MatchFields>({
	clipboardToken: tokenField,
	installReferrer: tokenField,
	deviceId: deviceIdField.allow(null),
	platform: Joi.valid('iOS', 'Android').allow(null),
	osVersion: reportedField,
	deviceModel: reportedField,
	language: reportedField,
	timezone: reportedField,
}).options({stripUnknown: true});

export type TokenMethod = 'CLIPBOARD' | 'INSTALL_REFERRER';
/** `clickId`: of the click whose page carried the token. */
export type SentToken = {method: TokenMethod; clickId: string};

/** The tokens that a request carries, the stronger method first. */
export const tokensOf = ({clipboardToken, installReferrer}: MatchFields): SentToken[] =>
	(
		[
			['CLIPBOARD', matchTokenIn(clipboardToken ?? '')],
			['INSTALL_REFERRER', matchTokenIn(installReferrer ?? '')],
		] as const
	).flatMap(([method, token]) => (token === null ? [] : [{method, clickId: clickIdOfToken(token)}]));

/** A token of a request, and whether a click has it. */
export type TokenSighting = {method: TokenMethod; isKnown: boolean};

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

/**
 * The organization of a valid CLIENT key; any other key counts as none, because the route needs none (contract/match 10).
 */
export const organizationOfKey = async (
	services: Pick<Services, 'appRequests' | 'background' | 'clock' | 'db' | 'keyCache'>,
	{'x-api-key': rawKey, 'user-agent': userAgent}: IncomingHttpHeaders,
): Promise<Organization | null> => {
	const holder = typeof rawKey === 'string' && rawKey !== '' ? await findKeyHolder(services, rawKey) : null;
	if (holder !== null && holder.key.tier !== 'CLIENT') {
		const live = {type: 'refusal' as const, text: 'POST /match with the SERVER key, which counts as no key'};
		services.appRequests.note({organization: holder.organization, counts: [['wrong_key', 'SERVER']], userAgent, live});
	}

	if (holder === null || holder.key.tier !== 'CLIENT' || holder.organization.status === 'SUSPENDED') {
		return null;
	}

	noteKeyUse(services, holder.key);
	return holder.organization;
};
