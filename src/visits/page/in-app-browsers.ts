import {readConfigFile} from '../../platform/package-root.ts';
import type {Visitor} from '../visit/visitor.ts';

/** A line of `config/in-app-browsers.json`: how a page of an app's own browser opens in the phone's. */
export type InAppBrowser = {
	/** A name of `inApp` in `config/crawlers.json`. */
	app: string;
	system: 'ios' | 'android';
	/** The link's target with the placeholders of `wayOutUrl`; null if the app lets nothing out. */
	target: string | null;
	/** The first major version of the system on which the way out works (default: any). */
	minOs?: number;
	/** The month in which it was seen to work, or to fail: `2026-09`. */
	seen: string;
};

const keyOf = (app: string | null, system: string): string => `${system} ${app}`;

let shipped: Map<string, InAppBrowser> | undefined;

/** The target of the way out of the visitor's in-app browser (contract/resolution 24); null if there is none. */
export const wayOutOf = ({class: name, browser, osVersion}: Visitor): string | null => {
	if (name !== 'ios-inapp' && name !== 'android-inapp') {
		return null;
	}

	shipped ??= new Map(
		readConfigFile<InAppBrowser[]>('in-app-browsers.json').map((line) => [keyOf(line.app, line.system), line]),
	);
	const {target = null, minOs = 0} = shipped.get(keyOf(browser, name.slice(0, name.indexOf('-')))) ?? {};
	// Browsers of new systems hide the version.
	return (osVersion?.major ?? minOs) < minOs ? null : target;
};

/**
 * The way out for a URL: `{url}` is the URL, `{encodedUrl}` the same percent-encoded, `{scheme}` and `{address}` its
 * parts before and after `://`. A fragment is omitted, because in `{address}` it would set fields of an intent.
 */
export const wayOutUrl = (target: string, url: string): string => {
	const parsed = new URL(url);
	parsed.hash = '';
	const values: Record<string, string> = {
		url: parsed.href,
		encodedUrl: encodeURIComponent(parsed.href),
		scheme: parsed.protocol.slice(0, -1),
		address: parsed.href.slice(parsed.protocol.length + 2),
	};
	return target.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
};
