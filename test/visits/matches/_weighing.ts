import {normalize, type RawSignals, signalsOfApp} from '../../../src/visits/matches/match-signals.ts';
import type {OpenAt} from '../../../src/visits/matches/phone-comparison.ts';

export const now = new Date('2026-03-10T12:00:00Z');

/** What the page of a click reported of the phone, and the app on the same phone. */
export const reported: RawSignals = {
	platform: 'ios',
	osVersion: {major: 17, minor: 5, patch: 1, precision: 'patch'},
	deviceModel: null,
	language: 'en-US',
	timezone: 'America/New_York',
};
export const app = signalsOfApp({
	platform: 'iOS',
	osVersion: '17.5.1',
	language: 'en-US',
	timezone: 'America/New_York',
});

type Counted = OpenAt['phones'][number];

/** Counted phones that are equal. */
export const counted = (count: number, signals: Partial<RawSignals> = {}, rest: Partial<Counted> = {}): Counted => {
	const unmatched = {byToken: 0, byGuess: 0, neighbours: {seen: 0, equal: 0}};
	return {signals: normalize({...reported, ...signals}), count, ...unmatched, ...rest};
};
