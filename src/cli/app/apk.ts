import {createHash, X509Certificate} from 'node:crypto';
import {type FileHandle, open} from 'node:fs/promises';
import {type Entry, openPromise, type ZipFile} from 'yauzl';
import {type AndroidApp, androidAppOf} from './android-app.ts';
import {readBinaryXml} from './binary-xml.ts';
import {FileFault, readBounded} from './located.ts';

const END_OF_DIRECTORY = Buffer.from('PK\u0005\u0006', 'latin1');
const END_BYTES = 22;
const MOST_COMMENT_BYTES = 65_535;
const BLOCK_MAGIC = 'APK Sig Block 42';
/** Magic and length, which end the block. */
const FOOTER_BYTES = 24;
/** Real ones have a few kilobytes. */
const MOST_BLOCK_BYTES = 8 * 1024 * 1024;
/** Signature schemes 2, 3 and 3.1; all begin alike. */
const SCHEMES = [0x7109_871a, 0xf053_68c0, 0x1b93_ad61];

const readAt = async (handle: FileHandle, position: number, length: number): Promise<Buffer> => {
	const {buffer, bytesRead} = await handle.read(Buffer.alloc(length), 0, length, position);
	return buffer.subarray(0, bytesRead);
};

/** Elements, each after its length in 4 bytes. */
const sequence = (bytes: Buffer): Buffer[] => {
	const elements: Buffer[] = [];
	for (let offset = 0; offset + 4 <= bytes.length; ) {
		const end = offset + 4 + bytes.readUInt32LE(offset);
		elements.push(bytes.subarray(offset + 4, end));
		offset = end;
	}

	return elements;
};

/** The certificate of each signer: the first one of the second part of its first part. */
const signersOf = (value: Buffer): Buffer[] =>
	sequence(sequence(value)[0] ?? value).flatMap((signer) => {
		const [, certificates] = sequence(sequence(signer)[0] ?? signer);
		return certificates === undefined ? [] : (sequence(certificates)[0] ?? []);
	});

/** The certificates in the signing block, which is directly in front of the zip's directory; none without a block. */
const blockCertificates = async (handle: FileHandle): Promise<Buffer[]> => {
	const {size} = await handle.stat();
	const tailBytes = Math.min(size, END_BYTES + MOST_COMMENT_BYTES);
	const tail = await readAt(handle, size - tailBytes, tailBytes);
	const end = tail.lastIndexOf(END_OF_DIRECTORY);
	const directory = end === -1 ? 0 : tail.readUInt32LE(end + 16);
	const footer = await readAt(handle, Math.max(0, directory - FOOTER_BYTES), FOOTER_BYTES);
	if (footer.toString('latin1', 8) !== BLOCK_MAGIC) {
		return [];
	}

	const length = Number(footer.readBigUInt64LE(0));
	if (length < FOOTER_BYTES || length > Math.min(directory, MOST_BLOCK_BYTES)) {
		throw new RangeError('its signing block has no valid length');
	}

	const block = await readAt(handle, directory - length, length - FOOTER_BYTES);
	const certificates: Buffer[] = [];
	for (let offset = 0; offset + 12 <= block.length; ) {
		const pair = Number(block.readBigUInt64LE(offset));
		if (pair < 4) {
			throw new RangeError('its signing block is damaged');
		}

		if (SCHEMES.includes(block.readUInt32LE(offset + 8))) {
			certificates.push(...signersOf(block.subarray(offset + 12, offset + 8 + pair)));
		}

		offset += 8 + pair;
	}

	return certificates;
};

/** An element of DER, and the elements in it. */
type Der = {tag: number; bytes: Buffer; body: Buffer};

const derElements = (bytes: Buffer): Der[] => {
	const elements: Der[] = [];
	for (let offset = 0; offset + 2 <= bytes.length; ) {
		const first = bytes.readUInt8(offset + 1);
		const lengthBytes = first < 0x80 ? 0 : first - 0x80;
		const start = offset + 2 + lengthBytes;
		const end = start + (lengthBytes === 0 ? first : bytes.readUIntBE(offset + 2, lengthBytes));
		elements.push({
			tag: bytes.readUInt8(offset),
			bytes: bytes.subarray(offset, end),
			body: bytes.subarray(start, end),
		});
		offset = end;
	}

	return elements;
};

/** A certificate and those of its authorities. */
const MOST_CERTIFICATES = 20;
const CONTEXT_0 = 0xa0;

/** The signer's certificate of a PKCS #7 file, as META-INF has it for signature scheme 1: the one that issued no other. */
const pkcs7Certificates = (bytes: Buffer): Buffer[] => {
	const inside = (parent: Buffer | undefined, tag: number): Buffer | undefined =>
		derElements(parent ?? Buffer.alloc(0)).find((element) => element.tag === tag)?.body;
	const signedData = inside(inside(derElements(bytes)[0]?.body, CONTEXT_0), 0x30);
	const all = derElements(inside(signedData, CONTEXT_0) ?? Buffer.alloc(0))
		.slice(0, MOST_CERTIFICATES)
		.map((element) => element.bytes);
	const read = all.map((der) => new X509Certificate(der));
	return all.filter(
		(_, index) => !read.some((other, place) => place !== index && other.issuer === read[index]?.subject),
	);
};

/** The SHA-256 fingerprint of a certificate, as app configurations have it. */
const fingerprintOf = (certificate: Buffer): string =>
	createHash('sha256').update(certificate).digest('hex').toUpperCase().match(/../g)?.join(':') ?? '';

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
