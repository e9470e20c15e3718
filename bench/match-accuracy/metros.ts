import type {Weighted} from './random.ts';
import {from} from './stated.ts';

const STATCOUNTER = 'StatCounter, mobile operating systems, January 2026';

/** A place where people live: its clock, its phones, its languages. `v8Zone`: the name that Chromium gives the zone. */
export type Metro = {
	name: string;
	zone: string;
	v8Zone: string;
	utcOffset: number;
	iosShare: number;
	languages: Weighted<string>;
};

const metro = (
	name: string,
	[zone, v8Zone, utcOffset]: [string, string, number],
	iosShare: number,
	languages: Weighted<string>,
): Metro => ({name, zone, v8Zone, utcOffset, iosShare, languages});

/** Six places that stand for markets that differ in phones, languages and networks. */
export const metros = from(`iOS share of the United States and India: ${STATCOUNTER}; the rest assumed`, [
	[
		metro('New York', ['America/New_York', 'America/New_York', -5], 0.6, [
			['en-US', 80],
			['es-US', 11],
			['zh-CN', 3],
			['ru-US', 2],
			['fr-FR', 2],
			['ko-KR', 2],
		]),
		0.2,
	],
	[
		metro('London', ['Europe/London', 'Europe/London', 0], 0.52, [
			['en-GB', 86],
			['en-US', 5],
			['pl-PL', 3],
			['fr-FR', 2],
			['ar-GB', 2],
			['es-ES', 2],
		]),
		0.15,
	],
	[
		metro('Berlin', ['Europe/Berlin', 'Europe/Berlin', 1], 0.38, [
			['de-DE', 82],
			['en-US', 6],
			['en-GB', 3],
			['tr-TR', 5],
			['ru-RU', 2],
			['pl-PL', 2],
		]),
		0.15,
	],
	[
		metro('Cairo', ['Africa/Cairo', 'Africa/Cairo', 2], 0.15, [
			['ar-EG', 68],
			['en-US', 16],
			['en-EG', 6],
			['en-GB', 7],
			['fr-FR', 3],
		]),
		0.2,
	],
	[
		metro('Mumbai', ['Asia/Kolkata', 'Asia/Calcutta', 5.5], 0.05, [
			['en-IN', 66],
			['hi-IN', 14],
			['en-US', 8],
			['mr-IN', 6],
			['en-GB', 6],
		]),
		0.15,
	],
	[
		metro('São Paulo', ['America/Sao_Paulo', 'America/Sao_Paulo', -3], 0.2, [
			['pt-BR', 95],
			['en-US', 3],
			['es-419', 2],
		]),
		0.15,
	],
] satisfies Weighted<Metro>);
