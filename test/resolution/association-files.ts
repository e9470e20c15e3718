import test from 'ava';
import {appleAppSiteAssociation, assetLinks} from '../../src/resolution/association-files.ts';

const apps = [
	{orgKey: 'ZZ99', teamId: 'ABCDE12345', bundleId: 'com.zed.app'},
	{orgKey: 'AB12', teamId: 'FGHIJ67890', bundleId: 'com.acme.app'},
];

test('on the default domain each app opens the paths of its organization, in the order of the keys', (t) => {
	t.deepEqual(appleAppSiteAssociation(apps), {
		applinks: {
			details: [
				{appIDs: ['FGHIJ67890.com.acme.app'], components: [{'/': '/AB12/*'}]},
				{appIDs: ['ABCDE12345.com.zed.app'], components: [{'/': '/ZZ99/*'}]},
			],
		},
	});
});

test('on a custom domain an app opens every path, because bare codes resolve there', (t) => {
	const file = appleAppSiteAssociation(apps.slice(1), {customDomain: true});
	t.deepEqual(file.applinks.details, [{appIDs: ['FGHIJ67890.com.acme.app'], components: [{'/': '/*'}]}]);
});

test('the files do not depend on the order of the rows', (t) => {
	t.is(JSON.stringify(appleAppSiteAssociation(apps)), JSON.stringify(appleAppSiteAssociation(apps.toReversed())));
	const rows = [
		{packageName: 'com.b', sha256Fingerprints: ['BB']},
		{packageName: 'com.a', sha256Fingerprints: ['CC', 'AA']},
	];
	t.is(JSON.stringify(assetLinks(rows)), JSON.stringify(assetLinks(rows.toReversed())));
});

test('a package that two organizations configure has one statement with the fingerprints of both', (t) => {
	const statements = assetLinks([
		{packageName: 'com.acme.app', sha256Fingerprints: ['AA:01', 'BB:02']},
		{packageName: 'com.zed.app', sha256Fingerprints: ['DD:04']},
		{packageName: 'com.acme.app', sha256Fingerprints: ['bb:02', 'CC:03']},
	]);
	t.deepEqual(statements, [
		{
			relation: ['delegate_permission/common.handle_all_urls'],
			target: {
				namespace: 'android_app',
				package_name: 'com.acme.app',
				sha256_cert_fingerprints: ['AA:01', 'BB:02', 'CC:03'],
			},
		},
		{
			relation: ['delegate_permission/common.handle_all_urls'],
			target: {namespace: 'android_app', package_name: 'com.zed.app', sha256_cert_fingerprints: ['DD:04']},
		},
	]);
});

test('a package without a fingerprint has no statement', (t) => {
	t.deepEqual(assetLinks([{packageName: 'com.acme.app', sha256Fingerprints: []}]), []);
	t.deepEqual(assetLinks([]), []);
});
