import {type Element, elementsOf} from './read-xml.ts';
import {FileFault, type Located, type Place} from './source-position.ts';

/** A restriction of a filter to paths: `path`, `pathPrefix`, `pathPattern` or another attribute, and its value. */
export type PathRule = {kind: string; text: string; place: Place};

/**
 * An intent filter. Android combines the attributes of all its data elements: each scheme with each host and each path.
 */
export type Filter = {
	place: Place;
	autoVerify: boolean;
	isExported: boolean;
	actions: string[];
	categories: string[];
	schemes: Located[];
	hosts: Located[];
	paths: PathRule[];
};

/** What an Android app declares about links. */
export type AndroidApp = {
	place: Place;
	/** The form of its lines, for `app kit`. */
	kit: 'android' | 'expo';
	/** A source manifest has none, because `build.gradle` has it; a configuration of Expo must have one. */
	packageName: Located | null;
	filters: Filter[];
	/** Whether it is made with Flutter, and what it says about Flutter's own handling of links. */
	isFlutter: boolean;
	flutterLinks: Located | null;
};

const PATHS = ['path', 'pathPrefix', 'pathPattern', 'pathSuffix', 'pathAdvancedPattern'];

/** The app of a manifest, source or merged. */
export const androidAppOf = (manifest: Element): AndroidApp => {
	if (manifest.name !== 'manifest') {
		throw new FileFault(
			`it is not an Android manifest: it begins with ${manifest.name}`,
			manifest.place,
			'Give an AndroidManifest.xml',
		);
	}

	const namesOf = (element: Element, child: string): string[] =>
		element.children.flatMap(({name, attributes}) =>
			name === child ? (attributes.get('android:name')?.text ?? []) : [],
		);
	const filterOf = (element: Element, activity: Element): Filter => {
		const data = element.children.filter(({name}) => name === 'data');
		const valuesOf = (name: string): Located[] =>
			data.flatMap(({attributes}) => attributes.get(`android:${name}`) ?? []);
		return {
			place: element.place,
			autoVerify: element.attributes.get('android:autoVerify')?.text === 'true',
			isExported: activity.attributes.get('android:exported')?.text === 'true',
			actions: namesOf(element, 'action'),
			categories: namesOf(element, 'category'),
			schemes: valuesOf('scheme'),
			hosts: valuesOf('host'),
			paths: PATHS.flatMap((kind) => valuesOf(kind).map((rule) => ({kind, ...rule}))),
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
		filters: elementsOf(manifest, 'activity', 'activity-alias').flatMap((activity) =>
			elementsOf(activity, 'intent-filter').map((filter) => filterOf(filter, activity)),
		),
		isFlutter: metaData.has('flutterEmbedding') || flutterLinks !== null,
		flutterLinks,
	};
};
