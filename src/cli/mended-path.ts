/** The fields of a path as typed, and the corrections made to it. */
type Mended = {fields: Record<string, unknown>; note: string | null};

/**
 * The path that was meant: a URL is split into path, parameters and campaign values, as an import splits it; a slash is
 * added in front.
 */
export const mendedPath = async (typed: string): Promise<Mended> => {
	if (/^[a-z][a-z0-9+.-]*:\/\//i.test(typed)) {
		const {deepLinkOf} = await import('./import/formats/foreign-fields.ts');
		const {fields} = deepLinkOf(typed);
		const {path, params = {}, ...others} = fields;
		const more = {...(params as Record<string, string>), ...(others as Record<string, string>)};
		const texts = [`path ${path}`, ...Object.entries(more).map(([name, value]) => `${name} ${value}`)];
		const page = /^https?:/i.test(typed) ? '; --fallback-url is for a page on the web' : '';
		return {fields, note: `The app gets ${texts.join(', ')} of ${typed}${page}`};
	}

	return typed === '' || typed.startsWith('/')
		? {fields: {path: typed}, note: null}
		: {fields: {path: `/${typed}`}, note: `The path is /${typed}`};
};
