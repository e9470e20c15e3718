import {html, render, slotText} from './html.ts';
import {descriptionOf, imageOf, type LinkView, logoOf, titleOf} from './link-view.ts';

const TITLE_LENGTH = 70;
const DESCRIPTION_LENGTH = 200;
const NAME_LENGTH = 50;

/** Truncates the text to a number of graphemes: no emoji is cut in two. */
const clamp = (text: string, length: number): string => {
	if (text.length <= length) {
		return text;
	}

	const characters: string[] = [];
	for (const {segment} of new Intl.Segmenter().segment(text)) {
		characters.push(segment);
		if (characters.length > length) {
			return `${characters
				.slice(0, length - 1)
				.join('')
				.trimEnd()}…`;
		}
	}

	return text;
};

/** Letters of right-to-left scripts, and controls of direction. */
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/** The organization's name within a button's text, isolated if it might turn the words around it. */
const nameWithin = (organizationName: string): string => {
	const name = clamp(organizationName, NAME_LENGTH);
	return TURNS.test(name) ? `\u2068${name}\u2069` : name;
};

/** The short URL for people, with a line break opportunity after each slash. */
const breakable = (url: string): string =>
	render(
		html`${url
			.replace(/^https:\/\//, '')
			.split(/(?<=\/)/)
			.map((part) => html`${part}<wbr>`)}`,
	);

/** The slots that each link fills for itself, in the order of their places. */
const LINK_SLOTS = [
	'title',
	'heading',
	'description',
	'about',
	'image',
	'logo',
	'initial',
	'name',
	'nameWithin',
	'url',
	'breakableUrl',
] as const;

/** The places of a link's texts in a template. */
export const linkPlaces = Object.fromEntries(LINK_SLOTS.map((name, place) => [name, place])) as Record<
	(typeof LINK_SLOTS)[number],
	number
>;

/** The parts of a page that depend on its link alone: the texts of its slots, and which parts it has. */
export type LinkTexts = {
	slots: readonly string[];
	has: Readonly<Record<'ownTitle' | 'description' | 'image' | 'cover' | 'logo', boolean>>;
};

export const linkTextsOf = (link: LinkView): LinkTexts => {
	const {organizationName} = link;
	const [title, description, image, logo] = [titleOf(link), descriptionOf(link), imageOf(link), logoOf(link)];
	const [initial = ''] = organizationName.trim();
	const texts: Record<(typeof LINK_SLOTS)[number], string> = {
		title: slotText(title),
		heading: slotText(clamp(title, TITLE_LENGTH)),
		description: slotText(description ?? ''),
		about: slotText(clamp(description ?? '', DESCRIPTION_LENGTH)),
		image: slotText(image ?? ''),
		logo: slotText(logo ?? ''),
		initial: slotText(initial.toUpperCase()),
		name: slotText(organizationName),
		nameWithin: slotText(nameWithin(organizationName)),
		url: slotText(link.url),
		breakableUrl: breakable(link.url),
	};
	return {
		slots: LINK_SLOTS.map((name) => texts[name]),
		has: {
			ownTitle: title !== organizationName,
			description: description !== null,
			image: image !== null,
			// The policy blocks images over plain http.
			cover: image?.startsWith('https:') === true,
			logo: logo !== null,
		},
	};
};
