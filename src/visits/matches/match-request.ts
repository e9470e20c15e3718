import Joi from 'joi';
import {deviceIdField, reportedField} from '../devices/device-fields.ts';
import type {DeviceFields} from './match-signals.ts';
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

/** A token that a request carried, and whether a click has it. */
export type TokenSighting = {method: TokenMethod; isKnown: boolean};
