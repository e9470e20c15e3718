import test from 'ava';
import fc from 'fast-check';
import {firebase} from '../../../src/cli/import/formats/firebase.ts';
import {type ForeignLink, foreignLink} from '../../../src/cli/import/formats/mapping.ts';
import {bitly, branch, dub} from '../../../src/cli/import/formats/services.ts';
import {customSchemeUrl} from '../../../src/links/links/link-targets.ts';
import {type AppContent, contentOf, openedBy} from '../../helpers/app-content.ts';
import {isDeep} from '../../helpers/deep.ts';

/** The same destination as each service has it. */
const services: Record<string, (destination: string) => ForeignLink> = {
	firebase: (link) =>
		foreignLink(firebase, {short_link: 'https://acme.page.link/x', link: `https://acme.example/${link}`}),
	dub: (link) =>
		foreignLink(dub, {shortLink: 'https://dub.sh/x', key: 'x', domain: 'dub.sh', url: `https://acme.example/${link}`}),
	bitly: (link) => foreignLink(bitly, {link: 'https://bit.ly/x', long_url: `https://acme.example/${link}`}),
	'bitly deeplinks': (link) =>
		foreignLink(bitly, {
			link: 'https://bit.ly/x',
			long_url: 'https://acme.example/',
			deeplinks: [{app_uri_path: `acme://${link}`}],
		}),
	branch: (link) => foreignLink(branch, {url: 'https://acme.app.link/x', data: {$deeplink_path: link}}),
};

/** In any order, because numbers come first among the names of `params`. */
const sorted = ({query, ...content}: AppContent): AppContent => ({...content, query: query.toSorted()});

const openedOf = ({link: {path, params = {}}}: ForeignLink): AppContent =>
	sorted(
		openedBy(customSchemeUrl({scheme: 'acme', path: String(path), params: params as Record<string, string>}) ?? ''),
	);

const segment =
	'/ . .. %2e %2F %252F %25 %3A %3b %40 @ : %26 %3D %2B + ; , %5B %5d %21 ! %C3%AF %20 %22 %5C %0A %7F %50 % %zz %C3'.split(
		' ',
	);
const query = 'a= b= &a=1 &1=2 %26 %3D %2B + %252B %23 %20 %C3%AF'.split(' ');
const pieces = (from: string[]) =>
	fc.array(fc.constantFrom(...from, 'x', 'é'), {maxLength: 6}).map((parts) => parts.join(''));
const anyDestination = fc
	.tuple(pieces(segment), pieces(query), pieces(segment))
	.map(([route, search, hash]) => `x${route}${search && `?${search}`}${hash && `#${hash}`}`);

for (const [name, linkOf] of Object.entries(services)) {
	test(`an app gets of an imported destination of ${name} what it got before, whatever is escaped in it`, (t) => {
		fc.assert(
			fc.property(anyDestination, (destination) => {
				t.deepEqual(openedOf(linkOf(destination)), sorted(contentOf(`/${destination}`)));
			}),
			{numRuns: isDeep ? 10_000 : 100},
		);
	});

	test(`a path from ${name} keeps the escapes of reserved characters and of the percent sign, and no others`, (t) => {
		for (const [destination, path] of [
			['a%2Fb', '/a%2Fb'],
			['a%252Fb', '/a%252Fb'],
			['100%25admin', '/100%25admin'],
			['@alice/posts/1', '/@alice/posts/1'],
			['user:42/%40x%3Ay', '/user:42/%40x%3Ay'],
			['find?tag=a&tag=b%26c', '/find?tag=a&tag=b%26c'],
			['find?tag=a&tag=1%2B1', '/find?tag=a&tag=1%2B1'],
			['#/confirm/4?email=user%2Btag%40acme.example', '/#/confirm/4?email=user%2Btag%40acme.example'],
			['%5Ba%5D%21%0Ana%C3%AFve%20cap', '/%5Ba%5D%21%0Anaïve cap'],
		] as const) {
			t.is(linkOf(destination).link['path'], path);
		}
	});
}
