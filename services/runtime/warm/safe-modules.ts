/** The standard library modules that may be imported before a run. Importing them starts no thread, opens no socket
 *  or file, writes nothing, and prints no warning. The import does not depend on the current folder, on variables,
 *  or on the environment's path. Modules that an interpreter does not have are skipped. */
const words = `
abc argparse array ast asyncio base64 binascii bisect bz2 calendar cmath codecs collections
collections.abc colorsys concurrent.futures concurrent.futures.thread configparser contextlib
contextvars copy copyreg csv ctypes dataclasses datetime decimal difflib dis email email.charset
email.encoders email.errors email.generator email.header email.message email.mime.application
email.mime.base email.mime.image email.mime.multipart email.mime.text email.parser email.policy
email.utils enum errno fcntl fnmatch fractions ftplib functools getpass glob graphlib grp gzip hashlib
heapq hmac html html.entities html.parser http http.client http.cookiejar http.cookies http.server
imaplib importlib importlib.util inspect io ipaddress itertools json json.decoder json.encoder keyword
linecache locale logging logging.config logging.handlers lzma math mimetypes mmap numbers opcode
operator pathlib pickle platform poplib posixpath pprint pwd queue quopri random re reprlib resource
sched secrets select selectors shelve shlex shutil signal smtplib socket socketserver sqlite3 ssl stat
statistics string stringprep struct subprocess tarfile tempfile textwrap threading time timeit token
tokenize traceback types typing unicodedata urllib urllib.error urllib.parse urllib.request
urllib.robotparser uuid weakref xml xml.dom xml.dom.minidom xml.etree xml.etree.ElementTree
xml.parsers.expat xml.sax xmlrpc xmlrpc.client zipfile zlib`;

export const safeModules: ReadonlySet<string> = new Set(words.trim().split(/\s+/));

/** Modules that the keeper itself imports, directly or indirectly. A script's own module with one of these names
 *  would be ignored. The same applies to the names of modules that a preloaded module imports. */
const alsoImported = `
_bootlocale _bootsubprocess _collections_abc _compat_pickle _compression _ctypes _markupbase _opcode
_py_abc _pydatetime _pydecimal _sitebuiltins _strptime _threading_local _weakrefset builtins
encodings functools gc gettext genericpath marshal nturl2path ntpath os pkgutil posix pyexpat site
sitecustomize sre_compile sre_constants sre_parse symtable sys sysconfig usercustomize warnings zipimport
concurrent logging email http importlib multiprocessing`;

/** The names that a script's own modules must not have, because the interpreter has already imported modules with
 *  these names. */
export const takenNames: ReadonlySet<string> = new Set(
  [...safeModules, ...alsoImported.trim().split(/\s+/)].map((name) => name.split('.')[0] ?? name),
);
