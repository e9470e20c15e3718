import Joi from 'joi';
import {hashMatchToken} from '../clicks/open-match.ts';
import {deviceIdField, toldField} from '../devices/device-fields.ts';
import type {DeviceFields} from './match-signals.ts';

/** The body of POST /match (interface 2); what is null counts as left out. */
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
	osVersion: toldField,
	deviceModel: toldField,
	language: toldField,
	timezone: toldField,
}).options({stripUnknown: true});

export type TokenMethod = 'CLIPBOARD' | 'INSTALL_REFERRER';
export type SentToken = {method: TokenMethod; hash: Buffer};

/** The token wherever it stands: bare, at the end of a copied URL, or in a referrer's parameters (facts 1.3, 1.5). */
const hashIn = (text: string | null | undefined): Buffer | null => {
	const token = /opl_[A-Za-z0-9]{16,}/.exec(text ?? '')?.[0];
	return token === undefined ? null : hashMatchToken(token);
};

/** The tokens that a request carries, the stronger method first. */
export const tokensOf = ({clipboardToken, installReferrer}: MatchFields): SentToken[] =>
	(
		[
			['CLIPBOARD', hashIn(clipboardToken)],
			['INSTALL_REFERRER', hashIn(installReferrer)],
		] as const
	).flatMap(([method, hash]) => (hash === null ? [] : [{method, hash}]));
