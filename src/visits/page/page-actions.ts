import {
	appStoreUrl,
	customSchemeUrl,
	intentUrl,
	playStoreUrl,
	withPassed,
	withUtm,
} from '../../links/links/link-targets.ts';
import {safeHttpUrl} from '../../platform/safe-http-url.ts';
import type {Visitor} from '../visit/visitor.ts';
import {wayOutUrl} from './in-app-browsers.ts';
import {type LinkView, sharedUrl} from './link-view.ts';
import type {PageStrings} from './page-strings.ts';

/**
 * One link of the page. `copies`: a tap copies the match token first. `before` follows the link when the copy is done
 * (iOS); `along` follows it within the tap, which Android's `intent:` needs.
 */
export type Action = {
	label: keyof PageStrings | 'appStore' | 'googlePlay';
	weight: 'primary' | 'secondary' | 'quiet';
	href: string;
	copies: 'before' | 'along' | null;
};

/** The offers for one class of readers. */
export type Offer = {
	actions: Action[];
	/** The browser to recommend, if an in-app browser may block taps. */
	hint: 'Safari' | 'Chrome' | null;
	/** Beside the link to copy, for the in-app browsers that have a way out. */
	wayOut?: Action | undefined;
	qr: boolean;
};

export type PagePlan = {
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

/**
 * The visitor as offers need it. `isIpad`: of an iOS class, where the link leads iPads elsewhere than phones.
 * `isAndroidFirefox`: a browser that follows the fallback of an intent even where the app is installed. `wayOut`: as
 * `wayOutOf`.
 */
export type PageVisitor = Pick<Visitor, 'class'> & {
	isIpad?: boolean;
	isAndroidFirefox?: boolean;
	wayOut?: string | null;
};

/** Where the visitor's platform leads people without the app; undefined for the link's default. */
const placeOf = ({destinations}: LinkView, {class: name, isIpad}: PageVisitor): string | undefined => {
	const {ios, ipad = ios, android, desktop} = destinations ?? {};
	return name.startsWith('ios-') ? (isIpad ? ipad : ios) : name.startsWith('android-') ? android : desktop;
};

/** A stored URL as a page may show it: `fallbackUrl`, or a destination. */
const websiteOf = ({host, utm, query}: LinkView, url: string | null | undefined): string | null => {
	const safe = url == null ? null : safeHttpUrl(url, {linkHosts: [host]});
	return safe === null ? null : withPassed(withUtm(safe, utm), query ?? {});
};

type Targets = {
	/** Where people without the app go; null: to the store. */
	destination: string | null;
	appStore: string | null;
	iosOpen: string | null;
	play: string | null;
	intent: string | null;
	/** The destination, else the link's `fallbackUrl`. */
	website: string | null;
};

/** Those that an offer reads: making one takes longer than all else of an offer. */
const targetsOf = (link: LinkView, visitor: PageVisitor): Targets => {
	const destination = websiteOf(link, placeOf(link, visitor));
	const {ios} = link;
	const [android] = link.android;
	const open = (scheme: string | null): string | null =>
		scheme === null ? null : customSchemeUrl({scheme, path: link.path, params: link.params});
	const play = android === undefined ? null : playStoreUrl(android.packageName, link.token);
	return {
		destination,
		play,
		appStore: ios?.appStoreId == null ? null : appStoreUrl(ios.appStoreId),
		website: destination ?? websiteOf(link, link.fallbackUrl),
		get iosOpen() {
			return open(ios?.scheme ?? null);
		},
		get intent() {
			return android === undefined || play === null
				? null
				: intentUrl({
						target: open(android.scheme) ?? sharedUrl(link),
						packageName: android.packageName,
						fallback: destination ?? (visitor.isAndroidFirefox ? null : play),
					});
		},
	};
};

const plainOffer = (actions: Action[], qr = false): Offer => ({actions, hint: null, qr});

const websiteOffer = ({website}: Targets): Offer => plainOffer(action('website', 'primary', website));

const iosOffer = (targets: Targets, token: string | null, isInApp: boolean): Offer | null => {
	const {destination, appStore, iosOpen, website} = targets;
	const main = appStore ?? iosOpen;
	if (main === null) {
		return null;
	}

	const label = appStore === null ? 'openApp' : 'onAppStore';
	return {
		actions: [
			...action('website', 'primary', destination),
			...action(label, destination === null ? 'primary' : 'secondary', main, token === null ? null : 'before'),
			// In-app browsers mostly block custom schemes (contract/resolution 14), so only the store's plain link is offered.
			...action('haveApp', 'secondary', appStore === null || isInApp ? null : iosOpen),
			...action('withoutCopying', 'quiet', token === null ? null : main),
			...action('website', 'quiet', destination === null ? website : null),
		],
		hint: isInApp ? 'Safari' : null,
		qr: false,
	};
};

const androidOffer = (targets: Targets, token: string | null, isInApp: boolean): Offer | null => {
	const {play, intent, website} = targets;
	// In a browser the intent itself falls back to the destination.
	const destination = isInApp ? targets.destination : null;
	if (play === null) {
		return null;
	}

	const copies = token === null ? null : 'along';
	// Web views show an error page for `intent:`, so the store comes first (contract/resolution 17).
	const [first, second] = isInApp
		? [
				action('onGooglePlay', destination === null ? 'primary' : 'secondary', play, copies),
				action('openApp', 'secondary', intent, copies),
			]
		: [action('openApp', 'primary', intent, copies), action('onGooglePlay', 'secondary', play, copies)];
	return {
		actions: [
			...action('website', 'primary', destination),
			...first,
			...second,
			...action('withoutCopying', 'quiet', token === null ? null : isInApp ? play : intent),
			...action('website', 'quiet', destination === null ? website : null),
		],
		hint: isInApp ? 'Chrome' : null,
		qr: false,
	};
};

const storeActions = ({appStore, play}: Targets): Action[] => [
	...action('appStore', 'secondary', appStore),
	...action('googlePlay', 'secondary', play),
];

const desktopOffer = (targets: Targets): Offer =>
	plainOffer(
		[...action('website', 'primary', targets.website), ...storeActions(targets)],
		targets.appStore !== null || targets.iosOpen !== null || targets.play !== null,
	);

const unknownOffer = (targets: Targets): Offer =>
	targets.website === null ? plainOffer(storeActions(targets)) : websiteOffer(targets);

/** Without an app an iPad goes where a Mac goes, unless its own place is another one. */
const ipadOffer = (link: LinkView, mac: Targets): Offer | null => {
	const targets = targetsOf(link, {class: 'ios-browser', isIpad: true});
	const isElsewhere = targets.website !== null && targets.website !== mac.website;
	return iosOffer(targets, link.token, false) ?? (isElsewhere ? websiteOffer(targets) : null);
};

/** An in-app browser's offer. With a way out, the panel with it and the link to copy is always shown. */
const withWayOut = (
	offer: Offer,
	browser: 'Safari' | 'Chrome',
	link: LinkView,
	wayOut: string | null = null,
): Offer => {
	const [out] = action('openInBrowser', 'secondary', wayOut === null ? null : wayOutUrl(wayOut, sharedUrl(link)));
	return out === undefined ? offer : {...offer, hint: browser, wayOut: out};
};

/** The one address at which a link leads people out on their system, without an app's scheme; null if there is none. */
export const outwardUrl = (link: LinkView, visitor: PageVisitor): string | null => {
	const {destination, appStore, play, website} = targetsOf(link, visitor);
	const store = visitor.class.startsWith('ios-') ? appStore : visitor.class.startsWith('android-') ? play : null;
	return destination ?? store ?? website;
};

/** The page's offers by class of reader: the table of contract/resolution 14. */
export const planPage = (link: LinkView, visitor: PageVisitor): PagePlan => {
	const targets = targetsOf(link, visitor);
	const still = {ipadOffer: null, redirectTo: null, bannerAppStoreId: null};
	// Safari's banner opens the store without copying, so it would lose a deferred link's token.
	const bannerAppStoreId = targets.appStore === null || link.token !== null ? null : (link.ios?.appStoreId ?? null);
	const {class: name, wayOut} = visitor;
	switch (name) {
		case 'ios-browser':
			return {...still, offer: iosOffer(targets, link.token, false) ?? websiteOffer(targets), bannerAppStoreId};
		case 'ios-inapp': {
			const offer = iosOffer(targets, link.token, true) ?? websiteOffer(targets);
			return {...still, offer: withWayOut(offer, 'Safari', link, wayOut)};
		}
		case 'android-browser':
			return {...still, offer: androidOffer(targets, link.token, false) ?? websiteOffer(targets)};
		case 'android-inapp': {
			const offer = androidOffer(targets, link.token, true) ?? websiteOffer(targets);
			return {...still, offer: withWayOut(offer, 'Chrome', link, wayOut)};
		}
		case 'mac-or-ipad':
			return {
				offer: desktopOffer(targets),
				ipadOffer: ipadOffer(link, targets),
				redirectTo: targets.website,
				bannerAppStoreId,
			};
		case 'desktop':
			return {...still, offer: desktopOffer(targets), redirectTo: targets.website};
		default:
			return {...still, offer: unknownOffer(targets)};
	}
};
