import {hash} from 'node:crypto';
import type {Services} from '../../services.ts';
import {mintTimedText, timeOfText} from '../matches/open-match.ts';

/** Identifies visits of one person: only one of their clicks stays open (contract/match 6). */
type VisitorCookie = {
	value: string;
	/** Its time, by which the click that set it is found, and 10 bytes of its SHA-256, in hexadecimal. */
	hash: string;
	/** The browser sent it. */
	isReturning: boolean;
};

const NAME = 'oplink_visitor';
const SENT = new RegExp(`(?:^|; *)${NAME}=([A-Za-z0-9]{22})(?:;|$)`);

/** The visitor's cookie, or a new one with its time and 89 random bits. @param at when the click happens. */
export const visitorCookie = (header: string | undefined, at: Date): VisitorCookie => {
	const sent = SENT.exec(header ?? '')?.[1];
	const value = sent ?? mintTimedText(at, 22);
	const digest = hash('sha256', value, 'hex').slice(0, 20);
	return {value, hash: timeOfText(value) + digest, isReturning: sent !== undefined};
};

/** The header that sets it, for as long as the click can be claimed. */
export const setVisitorCookie = (
	{addresses}: Pick<Services, 'addresses'>,
	{value}: VisitorCookie,
	{windowHours}: {windowHours: number},
): string =>
	[
		`${NAME}=${value}`,
		'Path=/',
		`Max-Age=${windowHours * 3600}`,
		'HttpOnly',
		...(addresses.linkScheme === 'https' ? ['Secure'] : []),
		'SameSite=Lax',
	].join('; ');
