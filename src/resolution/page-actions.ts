import {safeHttpUrl} from '../safe-http-url.ts';
import {appStoreUrl, customSchemeUrl, intentUrl, playStoreUrl, withUtm} from './link-targets.ts';
import type {LinkView} from './link-view.ts';
import type {Visitor} from './visitor.ts';

/**
 * One link of the page. `copies`: a tap copies the match token first. `before` follows the link when the copy is done
 * (iOS); `along` follows it within the tap, which Android's `intent:` needs.
 */
export type Action = {
	label: 'continue' | 'getApp' | 'openApp' | 'haveApp' | 'website' | 'withoutCopying' | 'appStore' | 'googlePlay';
	weight: 'primary' | 'secondary' | 'quiet';
	href: string;
	copies: 'before' | 'along' | null;
};

/** The offers for one class of readers. */
export type Offer = {
	actions: Action[];
	/** The browser to recommend, if an in-app browser may block taps. */
	hint: 'Safari' | 'Chrome' | null;
	qr: boolean;
};

type PagePlan = {
	offer: Offer;
	/** Replaces `offer` if the script detects that the Mac is an iPad. */
	ipadOffer: Offer | null;
	/** Automatic destination of desktop browsers. */
	redirectTo: string | null;
	/** For Safari's app banner. */
	bannerAppStoreId: string | null;
};

const action = (
	label: Action['label'],
	weight: Action['weight'],
	href: string | null,
	copies: Action['copies'] = null,
): Action[] => (href === null ? [] : [{label, weight, href, copies}]);

const websiteOf = ({fallbackUrl, host, utm}: LinkView): string | null => {
	const safe = fallbackUrl === null ? null : safeHttpUrl(fallbackUrl, {linkHosts: [host]});
	return safe === null ? null : withUtm(safe, utm);
};

type Targets = {
	appStore: string | null;
	iosOpen: string | null;
	play: string | null;
	intent: string | null;
	website: string | null;
};

const targetsOf = (link: LinkView): Targets => {
	const [android] = link.android;
	const open = (scheme: string | null): string | null => (scheme === null ? null : customSchemeUrl({...link, scheme}));
	const play = android === undefined ? null : playStoreUrl(android.packageName, link.token);
	return {
		appStore: link.ios?.appStoreId == null ? null : appStoreUrl(link.ios.appStoreId),
		iosOpen: open(link.ios?.scheme ?? null),
		play,
		intent:
			android === undefined || play === null
				? null
				: intentUrl({target: open(android.scheme) ?? link.url, packageName: android.packageName, fallback: play}),
		website: websiteOf(link),
	};
};

const websiteOffer = ({website}: Targets): Offer => ({
	actions: action('website', 'primary', website),
	hint: null,
	qr: false,
});

const iosOffer = (targets: Targets, token: string | null, isInApp: boolean): Offer | null => {
	const {appStore, iosOpen, website} = targets;
	const main = appStore ?? iosOpen;
	if (main === null) {
		return null;
	}

	const label = appStore === null ? 'openApp' : token === null ? 'getApp' : 'continue';
	return {
		actions: [
			...action(label, 'primary', main, token === null ? null : 'before'),
			// In-app browsers mostly block custom schemes (contract/page 1), so only the store's plain link is offered.
			...action('haveApp', 'secondary', appStore === null || isInApp ? null : iosOpen),
			...action('withoutCopying', 'quiet', token === null ? null : main),
			...action('website', 'quiet', website),
		],
		hint: isInApp ? 'Safari' : null,
		qr: false,
	};
};

const androidOffer = ({play, intent, website}: Targets, token: string | null, isInApp: boolean): Offer | null => {
	if (play === null) {
		return null;
	}

	const copies = token === null ? null : 'along';
	// Web views show an error page for `intent:`, so the store comes first (contract/page 4).
	const [first, second] = isInApp
		? [action('getApp', 'primary', play, copies), action('openApp', 'secondary', intent, copies)]
		: [action('openApp', 'primary', intent, copies), action('getApp', 'secondary', play, copies)];
	return {
		actions: [
			...first,
			...second,
			...action('withoutCopying', 'quiet', token === null ? null : isInApp ? play : intent),
			...action('website', 'quiet', website),
		],
		hint: isInApp ? 'Chrome' : null,
		qr: false,
	};
};

const storeActions = ({appStore, play}: Targets): Action[] => [
	...action('appStore', 'secondary', appStore),
	...action('googlePlay', 'secondary', play),
];

const desktopOffer = (targets: Targets): Offer => ({
	actions: [...action('website', 'primary', targets.website), ...storeActions(targets)],
	hint: null,
	qr: targets.appStore !== null || targets.iosOpen !== null || targets.play !== null,
});

const unknownOffer = (targets: Targets): Offer =>
	targets.website === null ? {actions: storeActions(targets), hint: null, qr: false} : websiteOffer(targets);

/** The page's offers by class of reader: the table of contract/page 1. */
export const planPage = (link: LinkView, visitor: Pick<Visitor, 'class'>): PagePlan => {
	const targets = targetsOf(link);
	const still = {ipadOffer: null, redirectTo: null, bannerAppStoreId: null};
	// Safari's banner opens the store without copying, so it would lose a deferred link's token.
	const bannerAppStoreId = targets.appStore === null || link.token !== null ? null : (link.ios?.appStoreId ?? null);
	switch (visitor.class) {
		case 'ios-browser':
			return {...still, offer: iosOffer(targets, link.token, false) ?? websiteOffer(targets), bannerAppStoreId};
		case 'ios-inapp':
			return {...still, offer: iosOffer(targets, link.token, true) ?? websiteOffer(targets)};
		case 'android-browser':
			return {...still, offer: androidOffer(targets, link.token, false) ?? websiteOffer(targets)};
		case 'android-inapp':
			return {...still, offer: androidOffer(targets, link.token, true) ?? websiteOffer(targets)};
		case 'mac-or-ipad':
			return {
				offer: desktopOffer(targets),
				ipadOffer: iosOffer(targets, link.token, false),
				redirectTo: targets.website,
				bannerAppStoreId,
			};
		case 'desktop':
			return {...still, offer: desktopOffer(targets), redirectTo: targets.website};
		default:
			return {...still, offer: unknownOffer(targets)};
	}
};
