import {type Html, html, render} from './html.ts';
import {descriptionOf, imageOf, type LinkView, titleOf} from './link-view.ts';

/** The texts of a link preview; null for one that it does not have. */
type Preview = Record<'title' | 'url' | 'siteName', string | Html> &
	Record<'description' | 'image', string | Html | null>;

const meta = (attribute: 'name' | 'property', key: string, content: string | Html | null): Html | null =>
	content === null ? null : html`<meta ${attribute}="${key}" content="${content}">\n`;

/** The tags of link previews (contract/resolution 7), without those that only X reads. */
export const socialTags = ({title, description, image, url, siteName}: Preview): Html =>
	html`${[
		meta('name', 'robots', 'noindex, nofollow'),
		meta('name', 'description', description),
		meta('property', 'og:type', 'website'),
		meta('property', 'og:title', title),
		meta('property', 'og:description', description),
		meta('property', 'og:url', url),
		meta('property', 'og:site_name', siteName),
		meta('property', 'og:image', image),
		meta('property', 'og:image:alt', image && title),
	]}<link rel="canonical" href="${url}">`;

const twitterTags = ({title, description, image}: Preview): Html =>
	html`${[
		meta('name', 'twitter:card', image === null ? 'summary' : 'summary_large_image'),
		meta('name', 'twitter:title', title),
		meta('name', 'twitter:description', description),
		meta('name', 'twitter:image', image),
	]}`;

/** The one static page for all crawlers: tags, no script, no redirect, no token (contract/resolution 5). */
export const renderCrawlerPage = (link: LinkView): string => {
	const title = titleOf(link);
	const description = descriptionOf(link);
	const preview = {title, description, image: imageOf(link), url: link.url, siteName: link.organizationName};
	return render(html`<!doctype html>
<html lang="en" prefix="og: https://ogp.me/ns#">
<head>
<meta charset="utf-8">
<title>${title}</title>
${twitterTags(preview)}${socialTags(preview)}
</head>
<body><h1 dir="auto">${title}</h1>${description !== null && html`<p dir="auto">${description}</p>`}</body>
</html>
`);
};

/** The page for crawlers of a link that a list warns of: no title and no tags. */
export const bareCrawlerPage =
	'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"></head><body></body></html>\n';

/**
 * Headers of the crawler page, names and values alternating. `Vary`, because people get another body at the same URL
 * (contract/resolution 5).
 */
export const crawlerPageHeaders: readonly string[] = Object.entries({
	'Content-Type': 'text/html; charset=utf-8',
	'Cache-Control': 'public, max-age=60',
	Vary: 'User-Agent',
	'X-Robots-Tag': 'noindex, nofollow',
	'Content-Security-Policy':
		"default-src 'none'; img-src https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}).flat();
