import {open} from 'node:fs/promises';
import {type Entry, openPromise, type ZipFile} from 'yauzl';
import {type AndroidApp, androidAppOf} from './android-app.ts';
import {blockCertificates, fingerprintOf, pkcs7Certificates} from './apk-certificates.ts';
import {readBinaryXml} from './binary-xml.ts';
import {FileFault} from './located.ts';
import {readBounded} from './read-file.ts';

const MANIFEST = 'AndroidManifest.xml';
/** Files with signatures of scheme 1. */
const SIGNATURE = /^META-INF\/[^/]+\.(?:RSA|DSA|EC)$/i;
const MOST_ENTRIES = 200_000;
/** Real ones have one for each scheme. */
const MOST_SIGNATURES = 20;

/** Ways from an app bundle to what is read. */
const OF_BUNDLE =
	'Make an APK of it, bundletool build-apks --mode=universal --bundle=FILE.aab --output=FILE.apks, and check the ' +
	'universal.apk in FILE.apks (unzip); or check app/build/intermediates/merged_manifests/release/AndroidManifest.xml';

export const isZip = (bytes: Buffer): boolean => bytes.toString('latin1', 0, 2) === 'PK';

const contentOf = async (zip: ZipFile, entry: Entry, file: string): Promise<Buffer> =>
	readBounded(await zip.openReadStreamPromise(entry), file);

/** The binary manifest and the signatures of scheme 1. */
export const readEntries = async (path: string, file: string): Promise<{manifest: Buffer; signatures: Buffer[]}> => {
	const zip = await openPromise(path, {autoClose: false, lazyEntries: true});
	try {
		if (zip.entryCount > MOST_ENTRIES) {
			throw new FileFault('it has too many entries', {file});
		}

		let manifest: Buffer | null = null;
		let isBundle = false;
		const signatures: Buffer[] = [];
		for await (const entry of zip.eachEntry()) {
			isBundle ||= entry.fileName === `base/manifest/${MANIFEST}`;
			if (entry.fileName === MANIFEST) {
				manifest = await contentOf(zip, entry, file);
			} else if (SIGNATURE.test(entry.fileName) && signatures.length < MOST_SIGNATURES) {
				signatures.push(await contentOf(zip, entry, file));
			}
		}

		if (manifest === null) {
			const place = {file};
			throw isBundle
				? new FileFault('it is an app bundle, whose manifest is not read', place, OF_BUNDLE)
				: new FileFault(`it is not an APK: it has no ${MANIFEST}`, place, `Give an APK or an ${MANIFEST}`);
		}

		return {manifest, signatures};
	} finally {
		zip.close();
	}
};

const readCertificates = async (path: string, signatures: readonly Buffer[]): Promise<Buffer[]> => {
	const handle = await open(path);
	try {
		return [...(await blockCertificates(handle)), ...signatures.flatMap(pkcs7Certificates)];
	} finally {
		await handle.close();
	}
};

/**
 * The app of an APK: its manifest, and the fingerprints of the certificates that came with its signatures. The signatures
 * are not verified, because a wrong one harms nobody here.
 * @throws FileFault
 */
export const readApk = async (path: string, file: string): Promise<AndroidApp> => {
	try {
		const {manifest, signatures} = await readEntries(path, file);
		const certificates = await readCertificates(path, signatures);
		return {
			...androidAppOf(readBinaryXml(manifest, file)),
			fingerprints: [...new Set(certificates.slice(0, MOST_SIGNATURES).map(fingerprintOf))],
		};
	} catch (error) {
		if (error instanceof FileFault || (error as {syscall?: string}).syscall !== undefined) {
			throw error;
		}

		// The zip's, the block's or a certificate's own error.
		throw new FileFault(`it is not a valid APK: ${(error as Error).message}`, {file});
	}
};
