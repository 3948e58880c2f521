// The programs that tests, benchmarks and scripts use: their names, Debian packages and usual
// folders. Plain JavaScript for Node 18: `npm test` reads it before the packages are installed.
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'

/**
 * @typedef {object} Search
 * @property {string[]} names names to search on PATH
 * @property {string[]} [variables] environment variables that may name the file; they take
 *   precedence
 * @property {string[] | (() => string[])} [places] files to check last
 */

/** By the name that `npm test` prints. Each has one or more programs, by role. */
const TEST_SETS = {
  Chromium: {
    packages: ['chromium'],
    programs: {
      browser: {
        variables: ['AFTERCAST_CHROMIUM', 'CHROME_PATH'],
        names: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'chrome'],
        places: [
          '/snap/bin/chromium',
          '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
          '/Applications/Chromium.app/Contents/MacOS/Chromium',
        ],
      },
    },
  },
  // Without the user interface, a test takes half the CPU time.
  'the headless shell of Chromium': {
    packages: ['chromium-headless-shell'],
    programs: {
      browser: {
        variables: ['AFTERCAST_CHROMIUM', 'CHROME_PATH'],
        names: ['chromium-headless-shell'],
      },
    },
  },
  'a C compiler': one('tcc', { variables: ['AFTERCAST_CC'], names: ['tcc', 'cc'] }),
  nginx: one('nginx-light', server('nginx', 'AFTERCAST_NGINX')),
  Apache: one('apache2', server('apache2', 'AFTERCAST_APACHE')),
  Caddy: one('caddy', server('caddy', 'AFTERCAST_CADDY')),
  Ceph: {
    packages: ['ceph-mon', 'ceph-osd', 'radosgw'],
    programs: {
      monitor: { names: ['ceph-mon'] },
      osd: { names: ['ceph-osd'] },
      osdMapTool: { names: ['osdmaptool'] },
      gateway: { names: ['radosgw'] },
      gatewayAdmin: { names: ['radosgw-admin'] },
    },
  },
  Varnish: {
    packages: ['varnish', 'varnish-modules'],
    programs: { program: server('varnishd', 'AFTERCAST_VARNISHD') },
  },
  PostgreSQL: one('postgresql', {
    variables: ['AFTERCAST_POSTGRES'],
    names: ['postgres'],
    // Debian has a folder per version.
    places: () => foldersBelow('/usr/lib/postgresql').map((folder) => `${folder}/bin/postgres`),
  }),
  PgBouncer: one('pgbouncer', server('pgbouncer', 'AFTERCAST_PGBOUNCER')),
  ip: one('iproute2', { names: ['ip'], places: ['/usr/sbin/ip', '/sbin/ip'] }),
  promtool: one('prometheus', server('promtool', 'AFTERCAST_PROMTOOL')),
  'systemd-analyze': one('systemd', server('systemd-analyze', 'AFTERCAST_SYSTEMD_ANALYZE')),
  Firefox: one('firefox-esr', {
    variables: ['AFTERCAST_FIREFOX'],
    names: ['firefox-esr', 'firefox'],
    places: ['/Applications/Firefox.app/Contents/MacOS/firefox'],
  }),
  WebKitGTK: {
    packages: [
      'webkit2gtk-driver',
      'xvfb',
      'gstreamer1.0-libav',
      'gstreamer1.0-plugins-base',
      'gstreamer1.0-plugins-good',
      'gstreamer1.0-plugins-bad',
    ],
    programs: {
      driver: { variables: ['AFTERCAST_WEBKIT_DRIVER'], names: ['WebKitWebDriver'] },
      // Next to the programs of the library; Debian's are in a folder per architecture.
      browser: {
        variables: ['AFTERCAST_WEBKIT_BROWSER'],
        names: [],
        places: () =>
          ['/usr/lib', '/usr/lib64', '/usr/libexec', ...foldersBelow('/usr/lib')].map((folder) =>
            path.join(folder, 'webkit2gtk-4.1', 'MiniBrowser'),
          ),
      },
      screen: { names: ['Xvfb'] },
    },
  },
}

/** Only `npm run clients` uses them. */
const CLIENT_SETS = {
  VLC: {
    packages: ['vlc-bin', 'vlc-plugin-base'],
    programs: { program: { names: ['cvlc'] } },
  },
  mpv: one('mpv', { names: ['mpv'] }),
  GStreamer: {
    packages: [
      'gstreamer1.0-tools',
      'gstreamer1.0-libav',
      'gstreamer1.0-plugins-base',
      'gstreamer1.0-plugins-good',
      'gstreamer1.0-plugins-bad',
    ],
    programs: { program: { names: ['gst-launch-1.0'] } },
  },
  FFmpeg: {
    packages: ['ffmpeg'],
    programs: { program: { names: ['ffmpeg'] }, probe: { names: ['ffprobe'] } },
  },
  streamlink: one('streamlink', { names: ['streamlink'] }),
  'yt-dlp': one('yt-dlp', { names: ['yt-dlp'] }),
}

const SETS = { ...TEST_SETS, ...CLIENT_SETS }

/** @typedef {keyof typeof SETS} ProgramSet */
/** @typedef {keyof typeof CLIENT_SETS} ClientSet */

/** Those of `npm test`. */
export const programSets = /** @type {ProgramSet[]} */ (Object.keys(TEST_SETS))
export const clientSets = /** @type {ClientSet[]} */ (Object.keys(CLIENT_SETS))

/**
 * @param {ProgramSet} set
 * @returns {string[]} its Debian packages
 */
export function packagesOf(set) {
  return SETS[set].packages
}

/**
 * Paths of the programs of a set by role, or undefined if one is missing.
 * @template {ProgramSet} Name
 * @param {Name} set
 * @returns {Record<keyof (typeof SETS)[Name]['programs'], string> | undefined}
 */
export function findPrograms(set) {
  const found = Object.entries(SETS[set].programs).map(([role, search]) => [role, find(search)])
  if (found.some(([, file]) => file === undefined)) return undefined
  return Object.fromEntries(found)
}

/**
 * Path of the first program of a set, or undefined if a program is missing.
 * @param {ProgramSet} set
 * @returns {string | undefined}
 */
export function findProgram(set) {
  return Object.values(findPrograms(set) ?? {})[0]
}

/** Path of the Chromium for tests: the headless shell of Debian if it is installed. */
export function findHeadlessChromium() {
  return findProgram('the headless shell of Chromium') ?? findProgram('Chromium')
}

/**
 * @param {Search} search
 * @returns {string | undefined}
 */
function find({ names, variables = [], places = [] }) {
  const named = variables.flatMap((variable) => process.env[variable] ?? [])
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((name) => name !== '')
  const onPath = names.flatMap((name) => folders.map((folder) => path.join(folder, name)))
  const others = typeof places === 'function' ? places() : places
  return [...named, ...onPath, ...others].find(isProgram)
}

/** @param {string} file */
function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/**
 * A set of one program.
 * @param {string} debianPackage
 * @param {Search} program
 */
function one(debianPackage, program) {
  return { packages: [debianPackage], programs: { program } }
}

/**
 * A program that is not on the PATH of every user.
 * @param {string} name
 * @param {string} variable
 * @returns {Search}
 */
function server(name, variable) {
  return { variables: [variable], names: [name], places: [`/usr/sbin/${name}`, `/usr/bin/${name}`] }
}

/** @param {string} folder */
function foldersBelow(folder) {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => path.join(folder, name))
}
