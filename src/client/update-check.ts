import type {LinkData, MinimumVersion} from './link-shapes.ts';
import type {Device} from './sdk-shapes.ts';

/** The app is older than a link needs: the minimum version of its platform, as it was set. */
export type UpdateRequired = {minimumVersion: string | number; link: LinkData};

/** The link in an answer that may have more. */
export const linkOf = ({linkId, path, params, minimumVersion}: LinkData): LinkData => ({
	linkId,
	path,
	params,
	...(minimumVersion === undefined ? {} : {minimumVersion}),
});

/** The numbers of a version, without a suffix (`2.10.0-beta`). */
const partsOf = (version: string): number[] => (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? '').split('.').map(Number);

/** Part by part: 2.9 is below 2.10, and 2 is 2.0. */
const isBelow = (version: string, least: string): boolean => {
	const [own, wanted] = [partsOf(version), partsOf(least)];
	const at = wanted.findIndex((part, index) => part !== (own[index] ?? 0));
	return at >= 0 && (own[at] ?? 0) < (wanted[at] ?? 0);
};

/** The minimum version that the app does not have; null also if its own is unknown, so that nobody is locked out. */
const unmetVersion = (
	{ios, android}: MinimumVersion,
	{platform, appVersion, appVersionCode}: Device,
): UpdateRequired['minimumVersion'] | null => {
	if (platform === 'iOS' && ios !== undefined && /^\d/.test(appVersion ?? '')) {
		return isBelow(appVersion ?? '', ios) ? ios : null;
	}

	const isOld = platform === 'Android' && android !== undefined && appVersionCode !== undefined;
	return isOld && appVersionCode < android ? android : null;
};

/** Compares the minimum version of links with the app's. A link that comes before the app is known waits for it. */
export const createUpdateCheck = (publish: (required: UpdateRequired) => void) => {
	let app: Device | null = null;
	let waiting: LinkData | null = null;

	const check = (link: LinkData): void => {
		waiting = app === null ? link : null;
		const minimumVersion = app && unmetVersion(link?.minimumVersion ?? {}, app);
		if (minimumVersion !== null) {
			publish({minimumVersion, link: linkOf(link)});
		}
	};

	return {
		check,
		/** The app, as each session describes it. */
		know: (device: Device): void => {
			app = device;
			if (waiting !== null) {
				check(waiting);
			}
		},
	};
};
