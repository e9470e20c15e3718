import {
	appStoreUrl,
	customSchemeUrl,
	intentUrl,
	playStoreUrl,
	withPassed,
	withUtm,
} from '../../links/links/link-targets.ts';
import {memoize} from '../../platform/memoize.ts';
import {safeHttpUrl} from '../../platform/safe-http-url.ts';
import type {Visitor} from '../visit/visitor.ts';
import {wayOutUrl} from './in-app-browsers.ts';
import {type LinkView, sharedUrl} from './link-view.ts';
import type {Words} from './translations.ts';

/**
 * One link of a page, whatever the query of a visit. `copies`: a tap copies the match token first. `before` follows the link when the copy is done
 * (iOS); `along` follows it within the tap, which Android's `intent:` needs.
 */
export type Action = {
	label: keyof Words | 'appStore' | 'googlePlay';
	weight: 'primary' | 'secondary' | 'quiet';
	/** The target of its `href`. */
	target: keyof Targets;
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
	/** Whether desktop browsers go on to the website by themselves. */
	redirects: boolean;
	/** For Safari's app banner. */
	bannerAppStoreId: string | null;
};

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

/** `safeHttpUrl` of a stored URL, after its link host and a space. */
const safeWebsite = memoize((text) => {
	const [host = ''] = text.split(' ', 1);
	return safeHttpUrl(text.slice(host.length + 1), {linkHosts: [host]});
});

/** A stored URL as a page may show it: `fallbackUrl`, or a destination. */
const websiteOf = ({host, utm, query}: LinkView, url: string | null | undefined): string | null => {
	const safe = url == null ? null : safeWebsite(`${host} ${url}`);
	return safe === null ? null : withPassed(withUtm(safe, utm), query ?? {});
};

/** The URLs of a page for one visit; null for those that the link lacks. Each is built only when it is read. */
export class Targets {
	readonly #link: LinkView;
	readonly #visitor: PageVisitor;

	constructor(link: LinkView, visitor: PageVisitor) {
		this.#link = link;
		this.#visitor = visitor;
	}

	/** The destination of people without the app; null: the store. */
	get destination(): string | null {
		return websiteOf(this.#link, placeOf(this.#link, this.#visitor));
	}

	/** The destination, else the link's `fallbackUrl`. */
	get website(): string | null {
		return this.destination ?? websiteOf(this.#link, this.#link.fallbackUrl);
	}

	get appStore(): string | null {
		const id = this.#link.ios?.appStoreId;
		return id == null ? null : appStoreUrl(id);
	}

	get play(): string | null {
		const [android] = this.#link.android;
		return android === undefined ? null : playStoreUrl(android.packageName, this.#link.token);
	}

	get iosOpen(): string | null {
		return this.#open(this.#link.ios?.scheme ?? null);
	}

	get intent(): string | null {
		const [android] = this.#link.android;
		const {play} = this;
		return android === undefined || play === null
			? null
			: intentUrl({
					target: this.#open(android.scheme) ?? sharedUrl(this.#link),
					packageName: android.packageName,
					fallback: this.destination ?? (this.#visitor.isAndroidFirefox ? null : play),
				});
	}

	/** Out of the visitor's in-app browser. */
	get wayOut(): string | null {
		const {wayOut} = this.#visitor;
		return wayOut == null ? null : wayOutUrl(wayOut, sharedUrl(this.#link));
	}

	#open(scheme: string | null): string | null {
		const {path, params} = this.#link;
		return scheme === null ? null : customSchemeUrl({scheme, path, params});
	}
}

/** The action for a target; none if the link has no such target. */
const action = (
	targets: Targets,
	target: keyof Targets | null,
	label: Action['label'],
	weight: Action['weight'],
	copies: Action['copies'] = null,
): Action[] => (target === null || targets[target] === null ? [] : [{label, weight, target, copies}]);

const plainOffer = (actions: Action[], qr = false): Offer => ({actions, hint: null, qr});

const websiteOffer = (targets: Targets): Offer => plainOffer(action(targets, 'website', 'website', 'primary'));

const iosOffer = (targets: Targets, token: string | null, isInApp: boolean): Offer | null => {
	const {destination, appStore, iosOpen} = targets;
	if (appStore === null && iosOpen === null) {
		return null;
	}

	const [main, label] = appStore === null ? (['iosOpen', 'openApp'] as const) : (['appStore', 'onAppStore'] as const);
	const weight = destination === null ? 'primary' : 'secondary';
	return {
		actions: [
			...action(targets, 'destination', 'website', 'primary'),
			...action(targets, main, label, weight, token === null ? null : 'before'),
			// In-app browsers mostly block custom schemes (contract/resolution 14), so only the store's plain link is offered.
			...action(targets, appStore === null || isInApp ? null : 'iosOpen', 'haveApp', 'secondary'),
			...action(targets, token === null ? null : main, 'withoutCopying', 'quiet'),
			...action(targets, destination === null ? 'website' : null, 'website', 'quiet'),
		],
		hint: isInApp ? 'Safari' : null,
		qr: false,
	};
};

const androidOffer = (targets: Targets, token: string | null, isInApp: boolean): Offer | null => {
	if (targets.play === null) {
		return null;
	}

	// In a browser the intent itself falls back to the destination.
	const destination = isInApp ? targets.destination : null;
	const copies = token === null ? null : 'along';
	// Web views show an error page for `intent:`, so the store comes first (contract/resolution 17).
	const [first, second] = isInApp
		? [
				action(targets, 'play', 'onGooglePlay', destination === null ? 'primary' : 'secondary', copies),
				action(targets, 'intent', 'openApp', 'secondary', copies),
			]
		: [
				action(targets, 'intent', 'openApp', 'primary', copies),
				action(targets, 'play', 'onGooglePlay', 'secondary', copies),
			];
	return {
		actions: [
			...action(targets, isInApp ? 'destination' : null, 'website', 'primary'),
			...first,
			...second,
			...action(targets, token === null ? null : isInApp ? 'play' : 'intent', 'withoutCopying', 'quiet'),
			...action(targets, destination === null ? 'website' : null, 'website', 'quiet'),
		],
		hint: isInApp ? 'Chrome' : null,
		qr: false,
	};
};

const storeActions = (targets: Targets): Action[] => [
	...action(targets, 'appStore', 'appStore', 'secondary'),
	...action(targets, 'play', 'googlePlay', 'secondary'),
];

const desktopOffer = (targets: Targets): Offer =>
	plainOffer(
		[...action(targets, 'website', 'website', 'primary'), ...storeActions(targets)],
		targets.appStore !== null || targets.iosOpen !== null || targets.play !== null,
	);

const unknownOffer = (targets: Targets): Offer =>
	targets.website === null ? plainOffer(storeActions(targets)) : websiteOffer(targets);

/** A Mac's visitor who turns out to have an iPad. */
export const IPAD: PageVisitor = {class: 'ios-browser', isIpad: true};

/** Without an app an iPad goes where a Mac goes, unless its own place is another one. */
const ipadOffer = (link: LinkView, mac: Targets): Offer | null => {
	const targets = new Targets(link, IPAD);
	const {website} = targets;
	const isElsewhere = website !== null && website !== mac.website;
	return iosOffer(targets, link.token, false) ?? (isElsewhere ? websiteOffer(targets) : null);
};

/** An in-app browser's offer. With a way out, the panel with it and the link to copy is always shown. */
const withWayOut = (offer: Offer, browser: 'Safari' | 'Chrome', targets: Targets): Offer => {
	const [out] = action(targets, 'wayOut', 'openInBrowser', 'secondary');
	return out === undefined ? offer : {...offer, hint: browser, wayOut: out};
};

/** The one address at which a link leads people out on their system, without an app's scheme; null if there is none. */
export const outwardUrl = (link: LinkView, visitor: PageVisitor): string | null => {
	const {destination, appStore, play, website} = new Targets(link, visitor);
	const store = visitor.class.startsWith('ios-') ? appStore : visitor.class.startsWith('android-') ? play : null;
	return destination ?? store ?? website;
};

/** The page's offers by class of reader, whatever the query of a visit: the table of contract/resolution 14. */
export const planPage = (link: LinkView, visitor: PageVisitor): PagePlan => {
	const targets = new Targets(link, visitor);
	const offerAlone = {ipadOffer: null, redirects: false, bannerAppStoreId: null};
	// Safari's banner opens the store without copying, so it would lose a deferred link's token.
	const bannerAppStoreId = targets.appStore === null || link.token !== null ? null : (link.ios?.appStoreId ?? null);
	const {class: name} = visitor;
	switch (name) {
		case 'ios-browser':
			return {...offerAlone, offer: iosOffer(targets, link.token, false) ?? websiteOffer(targets), bannerAppStoreId};
		case 'ios-inapp': {
			const offer = iosOffer(targets, link.token, true) ?? websiteOffer(targets);
			return {...offerAlone, offer: withWayOut(offer, 'Safari', targets)};
		}
		case 'android-browser':
			return {...offerAlone, offer: androidOffer(targets, link.token, false) ?? websiteOffer(targets)};
		case 'android-inapp': {
			const offer = androidOffer(targets, link.token, true) ?? websiteOffer(targets);
			return {...offerAlone, offer: withWayOut(offer, 'Chrome', targets)};
		}
		case 'mac-or-ipad':
			return {
				offer: desktopOffer(targets),
				ipadOffer: ipadOffer(link, targets),
				redirects: targets.website !== null,
				bannerAppStoreId,
			};
		case 'desktop':
			return {...offerAlone, offer: desktopOffer(targets), redirects: targets.website !== null};
		default:
			return {...offerAlone, offer: unknownOffer(targets)};
	}
};
