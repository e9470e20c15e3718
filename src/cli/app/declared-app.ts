import {type Element, elementsOf} from './read-files.ts';
import {
	at,
	FileFault,
	fieldsOf,
	type Located,
	listOf,
	type Place,
	textOf,
	textsOf,
	type Value,
} from './source-position.ts';

/** A restriction of a filter to paths: `path`, `pathPrefix`, `pathPattern` or another attribute, and its value. */
export type PathRule = {kind: string; text: string; place: Place};

/** A host of a filter. With a port it matches no link, because links have none. */
export type HostRule = Located & {port: Located | null};

/**
 * An intent filter. Android combines the attributes of all its data elements: each scheme with each host and each path.
 */
export type Filter = {
	place: Place;
	/** Booleans as they are written; empty if they are absent. Those of `enabled` are of the activity and the application. */
	autoVerify: Located[];
	exported: Located[];
	enabled: Located[];
	/** The permissions that a caller needs to open the activity. */
	permissions: Located[];
	actions: Located[];
	categories: Located[];
	schemes: Located[];
	hosts: HostRule[];
	paths: PathRule[];
	/** Types of content, which no link has. */
	types: Located[];
	/** Values that no system can read. */
	unreadable: Array<Located & {name: string; what: string}>;
	/** A group of path rules, which are not compared. */
	group: Place | null;
};

/** The declarations of an Android app about links. */
export type AndroidApp = {
	place: Place;
	/** The form of its lines, for `app kit`. */
	kit: 'android' | 'expo';
	/** A source manifest has none, because `build.gradle` has it; a configuration of Expo must have one. */
	packageName: Located | null;
	filters: Filter[];
	/** Whether it is made with Flutter, and its switch of Flutter's own link handling. */
	isFlutter: boolean;
	flutterLinks: Located | null;
};

type Attributes = Element['attributes'];

const PATHS = ['path', 'pathPrefix', 'pathPattern', 'pathSuffix', 'pathAdvancedPattern'];

/** The data elements of a filter, combined. */
export const dataOf = (
	data: readonly Attributes[],
): Pick<Filter, 'schemes' | 'hosts' | 'paths' | 'types' | 'unreadable'> => {
	const valuesOf = (name: string): Located[] => data.flatMap((attributes) => attributes.get(`android:${name}`) ?? []);
	return {
		schemes: valuesOf('scheme'),
		hosts: data.flatMap((attributes) => {
			const host = attributes.get('android:host');
			return host === undefined ? [] : [{...host, port: attributes.get('android:port') ?? null}];
		}),
		paths: PATHS.flatMap((kind) => valuesOf(kind).map((rule) => ({kind, ...rule}))),
		types: valuesOf('mimeType'),
		unreadable: ['scheme', 'host'].flatMap((name) =>
			valuesOf(name).flatMap((value) => (value.text.trim() === '' ? [{...value, name, what: 'blank'}] : [])),
		),
	};
};

/** The name of an attribute without the prefix that a file has for Android's namespace. */
const localName = (name: string): string => name.trim().replace(/^.*:/, '');

/** The element as in the merged manifest, without the parts that `tools:node` and `tools:remove` remove. */
const merged = (element: Element): Element => {
	const removed = (element.attributes.get('tools:remove')?.text ?? '').split(',').map(localName);
	return {
		...element,
		attributes: new Map([...element.attributes].filter(([name]) => !removed.includes(localName(name)))),
		children: element.children.flatMap((child) =>
			/^remove(?:All)?$/.test(child.attributes.get('tools:node')?.text ?? '') ? [] : [merged(child)],
		),
	};
};

/** The app of a manifest, source or merged. */
export const androidAppOf = (file: Element): AndroidApp => {
	if (file.name !== 'manifest') {
		throw new FileFault(
			`it is not an Android manifest: it begins with ${file.name}`,
			file.place,
			'Give an AndroidManifest.xml',
		);
	}

	const manifest = merged(file);
	const childrenOf = ({children}: Element, ...names: string[]): Element[] =>
		children.filter(({name}) => names.includes(name));
	const written = ({attributes}: Element, name: string): Located[] => {
		const value = attributes.get(`android:${name}`);
		// The build reads both spellings.
		return value === undefined ? [] : [/^true$/i.test(value.text) ? {...value, text: 'true'} : value];
	};
	const namesOf = (element: Element, child: string): Located[] =>
		childrenOf(element, child).flatMap((one) => written(one, 'name'));
	const filterOf = (element: Element, activity: Element, application: Element): Filter => {
		const [permission] = [...written(activity, 'permission'), ...written(application, 'permission')];
		return {
			place: element.place,
			autoVerify: written(element, 'autoVerify'),
			exported: written(activity, 'exported'),
			enabled: [activity, application].flatMap((one) => written(one, 'enabled')),
			permissions: permission === undefined || permission.text === '' ? [] : [permission],
			actions: namesOf(element, 'action'),
			categories: namesOf(element, 'category'),
			...dataOf(childrenOf(element, 'data').map(({attributes}) => attributes)),
			group: childrenOf(element, 'uri-relative-filter-group')[0]?.place ?? null,
		};
	};

	const metaData = new Map(
		elementsOf(manifest, 'meta-data').map(({attributes}) => [
			attributes.get('android:name')?.text,
			attributes.get('android:value'),
		]),
	);
	const flutterLinks = metaData.get('flutter_deeplinking_enabled') ?? null;
	return {
		place: manifest.place,
		kit: 'android',
		packageName: manifest.attributes.get('package') ?? null,
		filters: childrenOf(manifest, 'application').flatMap((application) =>
			childrenOf(application, 'activity', 'activity-alias').flatMap((activity) =>
				childrenOf(activity, 'intent-filter').map((filter) => filterOf(filter, activity, application)),
			),
		),
		isFlutter: metaData.has('flutterEmbedding') || flutterLinks !== null,
		flutterLinks,
	};
};

/** The form of an app's lines, for `app kit`. */
type Kit = 'ios' | 'expo';

/** The declarations about links in the entitlements of an iOS app. */
export type Entitlements = {
	place: Place;
	kit: Kit;
	domains: Located[];
	/** `TEAM.bundle`; only signed entitlements have it. */
	appId: Located | null;
	teamId: Located | null;
};

/** The declarations about links in the Info.plist of an iOS app. */
export type InfoPlist = {
	place: Place;
	kit: Kit;
	/** The build fills it in, but a configuration of Expo must have one. */
	bundleId: Located | null;
	schemes: Located[];
	/** Its switch of Flutter's own link handling. */
	flutterLinks: Located | null;
};

const DOMAINS = 'com.apple.developer.associated-domains';

/** Entitlements of an app. @throws FileFault for an Info.plist. */
export const entitlementsOf = (file: Value): Entitlements => {
	const bundle = [...fieldsOf(file).keys()].find((name) => name.startsWith('CFBundle'));
	if (bundle !== undefined) {
		throw new FileFault(
			`it has ${bundle}, so it is an Info.plist and not entitlements`,
			file.place,
			'Give it as --info',
		);
	}

	return {
		place: at(file, DOMAINS)?.place ?? file.place,
		kit: 'ios',
		domains: textsOf(at(file, DOMAINS)),
		appId: textOf(at(file, 'application-identifier')) ?? null,
		teamId: textOf(at(file, 'com.apple.developer.team-identifier')) ?? null,
	};
};

/** The Info.plist of an app. @throws FileFault for entitlements. */
export const infoPlistOf = (file: Value): InfoPlist => {
	if (fieldsOf(file).has(DOMAINS)) {
		throw new FileFault(`it has ${DOMAINS}, so it is entitlements and no Info.plist`, file.place, 'Give it as --ios');
	}

	const types = at(file, 'CFBundleURLTypes');
	const flutter = at(file, 'FlutterDeepLinkingEnabled');
	return {
		place: types?.place ?? file.place,
		kit: 'ios',
		bundleId: textOf(at(file, 'CFBundleIdentifier')) ?? null,
		schemes: listOf(types).flatMap((type) => textsOf(at(type, 'CFBundleURLSchemes'))),
		flutterLinks: flutter === undefined ? null : {text: String(flutter.content), place: flutter.place},
	};
};
