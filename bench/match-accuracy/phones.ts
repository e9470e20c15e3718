import type {Weighted} from './random.ts';
import {assumed, from, type Stated} from './stated.ts';

/** A model by the code that its system tells, and its screen in the browser's pixels. */
export type Model = {code: string; width: number; height: number};

const screen = (code: string, size: string): Model => {
	const [width, height] = size.split('x').map(Number);
	return {code, width: width ?? 0, height: height ?? 0};
};

const models = (...lines: Array<[code: string, size: string, share: number]>): Weighted<Model> =>
	lines.map(([code, size, share]) => [screen(code, size), share]);

const ANDROID_SCREENS = ['412x915', '360x800', '384x832', '393x873', '411x891', '360x780'];

/** Codes that few have, as the long tail of Android is. */
const tail = (count: number, share: number): Weighted<Model> =>
	Array.from({length: count}, (_, index) => [
		screen(`${['SM-M', 'CPH2', 'RMX3', 'V2', 'XT2'][index % 5]}${100 + index}`, ANDROID_SCREENS[index % 6] ?? ''),
		share / count,
	]);

const iPhones: Stated<Weighted<Model>> = assumed(
	models(
		['iPhone18,1', '402x874', 5],
		['iPhone18,2', '440x956', 6],
		['iPhone18,3', '402x874', 6],
		['iPhone17,1', '402x874', 6],
		['iPhone17,2', '440x956', 8],
		['iPhone17,3', '393x852', 10],
		['iPhone17,5', '390x844', 3],
		['iPhone16,1', '393x852', 5],
		['iPhone16,2', '430x932', 7],
		['iPhone15,4', '393x852', 8],
		['iPhone15,2', '393x852', 4],
		['iPhone15,3', '430x932', 5],
		['iPhone14,7', '390x844', 5],
		['iPhone14,5', '390x844', 8],
		['iPhone14,2', '390x844', 3],
		['iPhone14,3', '428x926', 3],
		['iPhone14,6', '375x667', 2],
		['iPhone13,2', '390x844', 4],
		['iPhone12,1', '414x896', 5],
		['iPhone12,8', '375x667', 1],
		['iPhone11,8', '414x896', 2],
	),
);

const iPads: Stated<Weighted<Model>> = assumed(
	models(
		['iPad13,18', '820x1180', 3],
		['iPad15,7', '820x1180', 2],
		['iPad14,8', '820x1180', 2],
		['iPad12,1', '810x1080', 3],
		['iPad14,1', '744x1133', 1],
	),
);

const androids: Stated<Weighted<Model>> = assumed([
	...models(
		['SM-A155F', '412x892', 3],
		['SM-A165F', '412x892', 3],
		['SM-A057F', '384x832', 2],
		['SM-A546E', '412x915', 3],
		['SM-A556B', '412x915', 3],
		['SM-A356B', '412x915', 2],
		['SM-A346B', '412x915', 2],
		['SM-A146B', '384x832', 2],
		['SM-S911B', '360x780', 2],
		['SM-S918B', '384x824', 2],
		['SM-S921B', '360x780', 2],
		['SM-S928B', '384x824', 2],
		['SM-S938B', '384x832', 2],
		['SM-G991B', '360x800', 1],
		['Pixel 7', '412x915', 1],
		['Pixel 8', '412x915', 1],
		['Pixel 9', '412x923', 1],
		['2201117TG', '393x873', 2],
		['23021RAAEG', '393x873', 2],
		['23129RAA4G', '393x873', 2],
		['23053RN02A', '393x873', 2],
		['2409BRN2CA', '393x873', 2],
		['CPH2591', '360x806', 2],
		['CPH2477', '360x806', 2],
		['RMX3710', '360x800', 1],
		['V2254', '393x873', 2],
		['moto g54 5G', '412x915', 1],
		['M2101K6G', '393x873', 1],
	),
	...tail(240, 46),
]);

const iosVersions: Stated<Weighted<string>> = from(
	"majors: Apple's App Store figures of February 12, 2026 (66 % on iOS 26), the rest after its figures of June 2026; " +
		'minors assumed',
	[
		['26.3', 30],
		['26.2.1', 14],
		['26.2', 8],
		['26.1', 7],
		['26.0.1', 4],
		['26.0', 3],
		['18.7.4', 5],
		['18.6.2', 6],
		['18.5', 5],
		['18.3.2', 3],
		['18.1.1', 3],
		['17.7.2', 2],
		['17.5.1', 2],
		['17.2', 1],
		['16.7.12', 4],
		['15.8.5', 3],
	],
);

const androidVersions: Stated<Weighted<string>> = from(
	"Google's platform distribution of December 1, 2025, without what is older than 9",
	[
		['16', 7.5],
		['15', 19.3],
		['14', 17.2],
		['13', 13.9],
		['12', 11.4],
		['11', 13.7],
		['10', 7.8],
		['9', 4.5],
	],
);

/** What people hold in their hands. */
export const phoneShares = {
	iPhones,
	iPads,
	iPadShareOfIos: assumed(0.06),
	androids,
	iosVersions,
	androidVersions,
};
