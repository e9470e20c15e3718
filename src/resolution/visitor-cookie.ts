import {hash} from 'node:crypto';
import {randomAlphanumeric} from '../random-text.ts';
import type {Services} from '../services.ts';

/** Identifies visits of one person, so that only one of their clicks stays open (contract/match 6). */
export type VisitorCookie = {
	value: string;
	/** 16 bytes of its SHA-256, in hexadecimal. */
	hash: string;
	/** The browser sent it. */
	isReturning: boolean;
};

const NAME = 'oplink_visitor';
const SENT = new RegExp(`(?:^|; *)${NAME}=([A-Za-z0-9_-]{22})(?:;|$)`);

/** The visitor's cookie, or a new one with 130 random bits. */
export const visitorCookie = (header: string | undefined): VisitorCookie => {
	const sent = SENT.exec(header ?? '')?.[1];
	const value = sent ?? randomAlphanumeric(22);
	return {value, hash: hash('sha256', value, 'hex').slice(0, 32), isReturning: sent !== undefined};
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
