"""The guests' kernel: the stock one of Debian's cloud images, taken out of its package, never installed."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import tempfile

META_PACKAGE = "linux-image-cloud-amd64"   # depends on the package of the newest version
QEMU = "qemu-system-x86_64"
BUSYBOX = "/bin/busybox"


class Unavailable(Exception):
    """Guests cannot run here; says why. A reason to skip, not to fail."""


def require_tools():
    """Raises Unavailable if this machine cannot run guests at all."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"guests run programs of this machine, and it is {platform.machine()}, not x86_64")
    if shutil.which(QEMU) is None:
        raise Unavailable(f"there is no {QEMU}; Debian has it in qemu-system-x86")
    if not os.access(BUSYBOX, os.X_OK):
        raise Unavailable(f"there is no {BUSYBOX}; Debian has it in busybox-static")


def output_of(*command, cwd=None):
    """Standard output of a command; raises Unavailable with its last line of complaint."""
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    except OSError as e:
        raise Unavailable(f"no kernel: {command[0]} cannot be run ({e.strerror})") from e
    if done.returncode != 0:
        said = (done.stderr.strip() or done.stdout.strip() or "no reason given").splitlines()[-1]
        raise Unavailable(f"no kernel: {' '.join(command[:2])} failed: {said}")
    return done.stdout


def package_name():
    """The package that holds the newest kernel, from the lists that apt has."""
    found = re.search(r"Depends: (linux-image-\S+)", output_of("apt-cache", "depends", META_PACKAGE))
    if not found:
        raise Unavailable(f"no kernel: apt's lists name none for {META_PACKAGE}; apt-get update may help")
    return found[1]


def download(folder):
    """Path of a kernel image below `folder`, which must be empty. Uses the network through apt's own sources."""
    output_of("apt-get", "download", package_name(), cwd=folder)
    packages = list(folder.glob("*.deb"))
    if not packages:
        raise Unavailable("no kernel: apt-get download left no package")
    output_of("dpkg-deb", "-x", str(packages[0]), str(folder / "unpacked"))
    images = list(folder.glob("unpacked/boot/vmlinuz-*"))
    if not images:
        raise Unavailable(f"no kernel: {packages[0].name} holds no boot/vmlinuz-*")
    return images[0]


def kernel_image(cache):
    """Path of the kernel in the folder `cache`; fetched on first use. Appears whole or not at all."""
    image = pathlib.Path(cache) / "vmlinuz"
    if image.is_file() and image.stat().st_size > 0:
        return image
    image.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=image.parent, prefix="download.") as folder:
        download(pathlib.Path(folder)).replace(image)
    return image
